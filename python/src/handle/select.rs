//! What is taken along each axis, as the package says it.

use blosc_oxide::AxisSelection;
use pyo3::prelude::*;

/// A selection for each axis.
pub(crate) struct Selections(pub(crate) Vec<AxisSelection>);

/// What the package says for one axis: an index, a slice, or a list of indices; all of them checked
/// and none negative.
#[derive(FromPyObject)]
enum Axis {
    Index(u64),
    Slice((u64, Option<u64>, i64)),
    Indices(Vec<u64>),
}

impl<'py> FromPyObject<'_, 'py> for Selections {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let axes: Vec<Axis> = object.extract()?;
        let selections = axes.into_iter().map(|axis| match axis {
            Axis::Index(index) => AxisSelection::Index(index),
            Axis::Slice((start, end, step)) => AxisSelection::slice(start, end, step),
            Axis::Indices(indices) => AxisSelection::indices(indices),
        });
        Ok(Self(selections.collect()))
    }
}
