//! Tests over all frames.
