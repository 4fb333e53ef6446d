//! Spans for subscribers of the crate `tracing`, behind the feature of that name.

/// `span!(DEBUG, "run", program = name);`: from here to the end of the block, without the feature
/// nothing at all.
macro_rules! span {
    ($level:ident, $name:literal, $field:ident = $value:expr) => {
        #[cfg(feature = "tracing")]
        let _span = ::tracing::span!(::tracing::Level::$level, $name, $field = $value).entered();
    };
}
