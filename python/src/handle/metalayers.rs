//! Metalayers, for the mappings `meta` and `vlmeta` of the package.

use super::Handle;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// The names of metalayers: of variable length or not.
#[pyfunction]
pub(crate) fn meta_names(py: Python<'_>, handle: &Bound<'_, Handle>, is_variable: bool) -> PyResult<Vec<String>> {
    handle.get().read_chunks(py, |chunks| {
        Ok(if is_variable {
            chunks.vlmetalayers().names().map(str::to_owned).collect()
        } else {
            chunks.metalayers().iter().map(|(name, _)| name.to_owned()).collect()
        })
    })
}

/// What a metalayer holds, if there is one of this name.
#[pyfunction]
pub(crate) fn meta_get<'py>(
    py: Python<'py>,
    handle: &Bound<'py, Handle>,
    name: &str,
    is_variable: bool,
) -> PyResult<Option<Bound<'py, PyBytes>>> {
    let content = handle.get().read_chunks(py, |chunks| {
        if is_variable {
            return chunks.vlmetalayers().get(name);
        }
        Ok(chunks.metalayers().get(name).map(<[u8]>::to_vec))
    })?;
    Ok(content.map(|content| PyBytes::new(py, &content)))
}

/// Sets a metalayer, or takes it away.
#[pyfunction]
pub(crate) fn meta_set(
    py: Python<'_>,
    handle: &Bound<'_, Handle>,
    name: &str,
    is_variable: bool,
    content: Option<Vec<u8>>,
) -> PyResult<()> {
    handle.get().change(py, |edit| {
        let chunks = edit.reader().chunks();
        let is_there =
            if is_variable { chunks.vlmetalayers().contains(name) } else { chunks.metalayers().get(name).is_some() };
        match (content, is_variable, is_there) {
            (Some(content), true, true) => edit.vlmetalayers().update(name, &content),
            (Some(content), true, false) => edit.vlmetalayers().add(name, &content),
            (Some(content), false, true) => edit.metalayers().update(name, content),
            (Some(content), false, false) => edit.metalayers().add(name, content),
            (None, true, _) => edit.vlmetalayers().remove(name),
            (None, false, _) => edit.metalayers().remove(name),
        }
    })
}
