//! The CPU engine of tenferro: kernels and the executors of the standard families.
