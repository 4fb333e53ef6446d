//! How a tenferro program is prepared and run: runtime, engines, caches, extension modules.
