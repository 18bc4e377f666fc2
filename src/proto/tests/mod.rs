//! Tests of the layer.
