//! Our side of a test in which a driver changes a frame or an array with both libraries in turns:
//! it tells us line by line what to do, as JSON, and gets a line for each. One handle stays open
//! for as long as the driver wants.

use crate::frames::{from_hex, packed};
use blosc_oxide::{
    ArrayEdit, ArrayOptions, AxisSelection, Fill, Frame, FrameEdit, FrameLayout, FrameOptions, Metalayers, NdArray,
    Options, Result, Threads, VlMetalayers, storage::Durability,
};
use std::io::{BufRead, Write};
use testkit::serde_json::{self, Value};

/// A frame or an array at a path, and the edit of it that is under way.
struct Target {
    frame: Frame,
    is_array: bool,
    edit: Option<Edit>,
}

/// Changes that have not been committed.
enum Edit {
    Frame(Box<FrameEdit>),
    Array(Box<ArrayEdit>),
}

impl Edit {
    fn begin(frame: &Frame, is_array: bool) -> Result<Self> {
        if is_array {
            return NdArray::from_frame(frame.clone())?.edit().map(|edit| Self::Array(Box::new(edit)));
        }
        frame.edit().map(|edit| Self::Frame(Box::new(edit)))
    }

    fn frame(&mut self) -> &mut FrameEdit {
        if let Self::Frame(edit) = self { edit } else { panic!("a frame is asked for") }
    }

    fn array(&mut self) -> &mut ArrayEdit {
        if let Self::Array(edit) = self { edit } else { panic!("an array is asked for") }
    }

    fn metalayers(&mut self) -> &mut Metalayers {
        match self {
            Self::Frame(edit) => edit.metalayers_mut(),
            Self::Array(edit) => edit.metalayers_mut(),
        }
    }

    fn vlmetalayers(&mut self) -> &mut VlMetalayers {
        match self {
            Self::Frame(edit) => edit.vlmetalayers_mut(),
            Self::Array(edit) => edit.vlmetalayers_mut(),
        }
    }

    fn commit(self) -> Result<Frame> {
        match self {
            Self::Frame(edit) => edit.commit(),
            Self::Array(edit) => edit.commit().map(|array| array.frame().clone()),
        }
    }
}

impl Target {
    fn create(path: &str, request: &Value) -> Result<Self> {
        let layout = if request["sparse"] == true { FrameLayout::Sparse } else { FrameLayout::Contiguous };
        let options = options().with_layout(layout).with_checksums(request["checksums"] == true);
        let options = options.with_metalayer("unit", packed(b"kelvin"));
        if request["array"] != true {
            let frame = Frame::create(path, options)?.commit()?;
            return Ok(Self { frame, is_array: false, edit: None });
        }
        let array = ArrayOptions::new(&[300, 8], Options::new(4)).with_chunks(&[1, 8]).with_blocks(&[1, 8]);
        let array = array.with_dtype("<i4").with_frame(options);
        let array = NdArray::create(path, &array, &Fill::Zeros)?.commit()?;
        Ok(Self { frame: array.frame().clone(), is_array: true, edit: None })
    }

    fn open(path: &str, is_array: bool) -> Result<Self> {
        Ok(Self { frame: Frame::open_with(path, &options().opening())?, is_array, edit: None })
    }

    /// The edit that is under way; one begins if there is none.
    fn edit(&mut self) -> Result<&mut Edit> {
        match &mut self.edit {
            Some(edit) => Ok(edit),
            none => Ok(none.insert(Edit::begin(&self.frame, self.is_array)?)),
        }
    }

    fn commit(&mut self) -> Result<()> {
        if let Some(edit) = self.edit.take() {
            self.frame = edit.commit()?;
        }
        Ok(())
    }

    /// All that there is, for the driver to compare.
    fn digest(&mut self) -> Result<String> {
        self.frame.refresh()?;
        let frame = &self.frame;
        let mut bytes = if self.is_array { shape_and_items(&NdArray::from_frame(frame.clone())?)? } else { Vec::new() };
        for index in (0..frame.nchunks()).filter(|_| !self.is_array) {
            bytes.extend(frame.decompress(index)?);
        }
        bytes.extend(frame.metalayers().get("unit").unwrap_or_default());
        let layers = frame.vlmetalayers();
        let mut names: Vec<&str> = layers.names().collect();
        names.sort_unstable();
        for name in names {
            bytes.extend(name.as_bytes());
            bytes.extend(layers.get(name)?.unwrap_or_default());
        }
        Ok(testkit::sha256_hex(&bytes))
    }
}

fn options() -> FrameOptions {
    FrameOptions::new(Options::new(4).with_threads(Threads::serial())).with_durability(Durability::None)
}

fn shape_and_items(array: &NdArray) -> Result<Vec<u8>> {
    let mut bytes: Vec<u8> = array.shape().iter().flat_map(|length| length.to_le_bytes()).collect();
    bytes.extend(array.to_vec()?);
    Ok(bytes)
}

/// Does what is asked for on standard input until that ends.
pub(crate) fn serve(path: &str) -> usize {
    let mut open = None;
    let mut count = 0;
    for line in std::io::stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line.expect("a line")).expect("JSON");
        let answer = answer(path, &mut open, &request).unwrap_or_else(|error| format!("error: {error}"));
        writeln!(std::io::stdout(), "{answer}").expect("somebody reads it");
        count += 1;
    }
    count
}

fn answer(path: &str, open: &mut Option<Target>, request: &Value) -> Result<String> {
    let is_array = request["array"] == true;
    match (request["do"].as_str().expect("what to do"), open.as_mut()) {
        ("create", _) => *open = Some(Target::create(path, request)?),
        ("open", _) => {
            *open = None;
            *open = Some(Target::open(path, is_array)?);
        }
        ("look", Some(opened)) => return opened.digest(),
        ("look afresh", _) => {
            let mut opened = Target::open(path, is_array)?;
            let is_good = Frame::open(path)?.verify()?.is_good();
            return if is_good { opened.digest() } else { Ok("error: damaged".to_owned()) };
        }
        (change, Some(opened)) => make(change, opened, request)?,
        (_, None) => panic!("nothing is open"),
    }
    Ok("done".to_owned())
}

fn make(change: &str, open: &mut Target, request: &Value) -> Result<()> {
    let number = |name: &str| request[name].as_u64().expect("a number");
    let index = || usize::try_from(number("index")).expect("an index");
    let data = || from_hex(request["data"].as_str().expect("data"));
    let name = || request["name"].as_str().expect("a name");
    if change == "commit" {
        return open.commit();
    }
    let edit = open.edit()?;
    match change {
        "append" => edit.frame().append(&data()),
        "insert" => edit.frame().insert(index(), &data()),
        "update" => edit.frame().update(index(), &data()),
        "delete" => edit.frame().delete(index()),
        "reverse" => {
            let order: Vec<usize> = (0..edit.frame().nchunks()).rev().collect();
            edit.frame().reorder(&order)
        }
        "meta" => edit.metalayers().update("unit", packed(&data())),
        "layer" => {
            let layers = edit.vlmetalayers();
            let is_there = layers.names().any(|other| other == name());
            if is_there { layers.update(name(), &packed(&data())) } else { layers.add(name(), &packed(&data())) }
        }
        "no layer" => edit.vlmetalayers().remove(name()).map(|_| ()),
        "resize" => edit.array().resize(&[number("rows"), 8]),
        "write" => {
            let rows: AxisSelection = (number("start")..number("end")).into();
            edit.array().write(&[rows, AxisSelection::All], &data())
        }
        "append rows" => edit.array().append(0, &data()),
        _ => panic!("{change} is not known"),
    }
}
