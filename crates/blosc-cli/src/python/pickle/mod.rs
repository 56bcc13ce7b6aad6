//! NumPy arrays in pickles, as `pack_array` of python-blosc and python-blosc2 compresses them.
//!
//! Unpickling is running a program. This one runs nothing: it knows the instructions that put
//! values together, and of all that can be called the functions that make an array or its type.
//! Anything else is refused by its name.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

mod describe;

use blosc_oxide::{Error, ErrorKind, ItemOrder, NpyHeader, Result};
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

/// The instruction that names the protocol, with which all pickles of Python 2 and 3 start.
pub(crate) const PICKLE_START: u8 = 0x80;
/// The instruction that ends a pickle.
pub(crate) const PICKLE_END: u8 = b'.';
/// An array takes some dozens of instructions, and as many for each field of its items.
const MAX_INSTRUCTIONS: usize = 100_000;
/// Fields can be this deep inside each other.
const MAX_DEPTH: usize = 64;
/// The longest name of a module, a function or a type: functions are copied with each use.
const MAX_NAME: usize = 256;
/// The longest text that is looked at: a short pickle can use one often.
const MAX_TEXT: usize = 1 << 16;

/// The array that `data` is the pickle of, and which of its bytes are the items; `None` if it is no
/// pickle.
///
/// # Errors
/// `Unsupported` if it is a pickle of something else, with the name of what that is; `Corrupt` if
/// it is damaged.
pub(crate) fn pickled_array(data: &[u8]) -> Result<Option<(NpyHeader, Range<usize>)>> {
    if !matches!(data, [PICKLE_START, 2..=5, .., PICKLE_END]) {
        return Ok(None);
    }
    let mut machine = Machine { data, at: 2, ..Machine::default() };
    match machine.run().and_then(|top| machine.finish(top)) {
        Ok(found) => Ok(Some(found)),
        // Data that happens to begin and end like a pickle names no function of Python.
        Err(_) if !machine.has_called => Ok(None),
        Err(error) => Err(Error::new(error.kind(), format!("pickle: {error}"))),
    }
}

/// The place of a value in the machine: several may refer to the same one, and some are completed
/// later.
type Place = usize;
/// Values in a row, of which any number of others can consist: a short pickle could name a long
/// tuple a thousand times.
type Members = Rc<[Place]>;

#[derive(Debug, Clone)]
enum Node<'a> {
    None,
    Bool(bool),
    Int(i64),
    Bytes(Range<usize>),
    Text(&'a str),
    Tuple(Members),
    Dict(Vec<(Place, Place)>),
    List,
    /// A function or a class, by module and name.
    Global(String),
    DType {
        name: &'a str,
        state: Members,
    },
    Array(Option<Parts>),
}

/// What an array is made of.
#[derive(Debug, Clone)]
struct Parts {
    dtype: Place,
    shape: Members,
    order: ItemOrder,
    items: Range<usize>,
}

#[derive(Default)]
struct Machine<'a> {
    data: &'a [u8],
    at: usize,
    nodes: Vec<Node<'a>>,
    stack: Vec<Place>,
    marks: Vec<usize>,
    memo: HashMap<u64, Place>,
    /// Whether a function was named.
    has_called: bool,
}

impl<'a> Machine<'a> {
    /// Runs to the end; what is left on the stack is the value.
    fn run(&mut self) -> Result<Place> {
        for _ in 0..MAX_INSTRUCTIONS {
            let [code] = self.take(1)?;
            if code == PICKLE_END {
                let top = self.pop()?;
                return if self.at == self.data.len() {
                    Ok(top)
                } else {
                    Err(corrupt("something comes after its end"))
                };
            }
            self.step(code)?;
        }
        Err(unsupported(&format!("more than {MAX_INSTRUCTIONS} instructions, which no array needs")))
    }

    fn step(&mut self, code: u8) -> Result<()> {
        match code {
            b'(' => self.marks.push(self.stack.len()),
            b'N' => self.push(Node::None),
            0x88 | 0x89 => self.push(Node::Bool(code == 0x88)),
            b'K' | b'M' | b'J' | 0x8a => self.integer(code)?,
            0x8c | b'X' | 0x8d => {
                let len = self.length(match code {
                    0x8c => 1,
                    b'X' => 4,
                    _ => 8,
                })?;
                let text = self.text(len)?;
                self.push(Node::Text(text));
            }
            b'U' | b'T' | b'C' | b'B' | 0x8e | 0x96 => {
                let len = self.length(match code {
                    b'U' | b'C' => 1,
                    b'T' | b'B' => 4,
                    _ => 8,
                })?;
                let range = self.range(len)?;
                self.push(Node::Bytes(range));
            }
            b')' | 0x85..=0x87 | b't' => self.tuple(code)?,
            b'}' => self.push(Node::Dict(Vec::new())),
            // The items of an array of Python objects, which are not looked at.
            b']' => self.push(Node::List),
            b'a' => drop(self.pop()?),
            b'e' => drop(self.pop_marked()?),
            b's' | b'u' => self.set_items(code)?,
            b'c' | 0x93 => self.global(code)?,
            b'R' => self.call()?,
            b'b' => self.build()?,
            b'q' | b'r' | 0x94 | b'h' | b'j' => self.remember(code)?,
            // Frames say how much to read at a time.
            0x95 => drop(self.length(8)?),
            _ => return Err(unsupported(&format!("instruction {code:#04x} at {}", self.at.saturating_sub(1)))),
        }
        Ok(())
    }

    fn push(&mut self, node: Node<'a>) {
        self.stack.push(self.nodes.len());
        self.nodes.push(node);
    }

    fn pop(&mut self) -> Result<Place> {
        self.stack.pop().ok_or_else(|| corrupt("a value is missing"))
    }

    /// All values since the last mark.
    fn pop_marked(&mut self) -> Result<Vec<Place>> {
        let mark = self.marks.pop().filter(|&mark| mark <= self.stack.len());
        Ok(self.stack.split_off(mark.ok_or_else(|| corrupt("a mark is missing"))?))
    }

    fn node(&self, place: Place) -> &Node<'a> {
        self.nodes.get(place).unwrap_or(&Node::None)
    }

    fn range(&mut self, len: usize) -> Result<Range<usize>> {
        let end = self.at.checked_add(len).filter(|&end| end <= self.data.len());
        let end = end.ok_or_else(|| corrupt(&format!("{len} bytes at {} go beyond its end", self.at)))?;
        Ok(std::mem::replace(&mut self.at, end)..end)
    }

    fn take<const N: usize>(&mut self, len: usize) -> Result<[u8; N]> {
        let range = self.range(len)?;
        let mut bytes = [0; N];
        bytes.iter_mut().zip(self.data.get(range).unwrap_or_default()).for_each(|(to, from)| *to = *from);
        Ok(bytes)
    }

    /// A number of up to 8 bytes, the lowest first.
    fn length(&mut self, width: usize) -> Result<usize> {
        Ok(usize::try_from(u64::from_le_bytes(self.take(width)?)).unwrap_or(usize::MAX))
    }

    fn text(&mut self, len: usize) -> Result<&'a str> {
        let range = self.range(len)?;
        std::str::from_utf8(self.data.get(range).unwrap_or_default()).map_err(|_| corrupt("a text is no UTF-8"))
    }

    fn line(&mut self) -> Result<&'a str> {
        let rest = self.data.get(self.at..).unwrap_or_default();
        let len = rest.iter().position(|&byte| byte == b'\n').ok_or_else(|| corrupt("a line does not end"))?;
        let line = self.text(len)?;
        self.at = self.at.saturating_add(1);
        Ok(line)
    }

    fn integer(&mut self, code: u8) -> Result<()> {
        let number = match code {
            b'K' => i64::from(u8::from_le_bytes(self.take(1)?)),
            b'M' => i64::from(u16::from_le_bytes(self.take(2)?)),
            b'J' => i64::from(i32::from_le_bytes(self.take(4)?)),
            _ => {
                let len = self.length(1)?;
                if len > 8 {
                    return Err(unsupported("a number of more than 8 bytes"));
                }
                let unused = 64_usize.saturating_sub(len.saturating_mul(8));
                let number = i64::from_le_bytes(self.take(len)?);
                if len == 0 { 0 } else { (number << unused) >> unused }
            }
        };
        self.push(Node::Int(number));
        Ok(())
    }

    fn tuple(&mut self, code: u8) -> Result<()> {
        let members = match code {
            b't' => self.pop_marked()?,
            b')' => Vec::new(),
            _ => {
                let count = usize::from(code.saturating_sub(0x84));
                let start = self.stack.len().checked_sub(count).ok_or_else(|| corrupt("a value is missing"))?;
                self.stack.split_off(start)
            }
        };
        self.push(Node::Tuple(members.into()));
        Ok(())
    }

    fn set_items(&mut self, code: u8) -> Result<()> {
        let members = match code {
            b'u' => self.pop_marked()?,
            _ => {
                let value = self.pop()?;
                vec![self.pop()?, value]
            }
        };
        let dict = self.stack.last().and_then(|&top| self.nodes.get_mut(top));
        let Some(Node::Dict(items)) = dict else { return Err(corrupt("something is put into what is no dict")) };
        for pair in members.chunks_exact(2) {
            if let [key, value] = pair {
                items.push((*key, *value));
            }
        }
        Ok(())
    }

    fn global(&mut self, code: u8) -> Result<()> {
        let (module, name) = if code == b'c' {
            (short(self.line()?)?, short(self.line()?)?)
        } else {
            let (name, module) = (self.pop()?, self.pop()?);
            (short(self.as_text(module)?)?, short(self.as_text(name)?)?)
        };
        self.has_called = true;
        // NumPy 2 has moved its core.
        self.push(Node::Global(format!("{}.{name}", module.replace("numpy._core", "numpy.core"))));
        Ok(())
    }

    fn call(&mut self) -> Result<()> {
        let (arguments, function) = (self.pop()?, self.pop()?);
        let Node::Global(function) = self.node(function).clone() else {
            return Err(corrupt("something is called that is no function"));
        };
        let arguments = self.as_tuple(arguments)?;
        let node = match (function.as_str(), &*arguments) {
            ("numpy.dtype", [name, ..]) => {
                Node::DType { name: short(self.as_text(*name)?)?, state: Members::default() }
            }
            ("numpy.core.multiarray._reconstruct", [class, ..]) => match self.node(*class) {
                Node::Global(class) if class == "numpy.ndarray" => Node::Array(None),
                Node::Global(class) => return Err(unsupported(&format!("{class} is no plain array"))),
                _ => return Err(corrupt("an array without a class")),
            },
            ("numpy.core.numeric._frombuffer", [items, dtype, shape, order]) => {
                let order = if self.as_text(*order)? == "F" { ItemOrder::Fortran } else { ItemOrder::C };
                let parts = self.parts(*shape, *dtype, order, *items)?;
                Node::Array(Some(parts))
            }
            ("numpy.core.multiarray.scalar", [dtype, items]) => {
                let items = self.as_bytes(*items)?;
                Node::Array(Some(Parts { dtype: *dtype, shape: Members::default(), order: ItemOrder::C, items }))
            }
            _ => return Err(unsupported(&format!("{function} is called, which makes no plain array"))),
        };
        self.push(node);
        Ok(())
    }

    /// Completes a type or an array that was made before.
    fn build(&mut self) -> Result<()> {
        let state = self.pop()?;
        let state = self.as_tuple(state)?;
        let target = *self.stack.last().ok_or_else(|| corrupt("a value is missing"))?;
        let parts = match (self.node(target), &*state) {
            (Node::Array(_), [_, shape, dtype, order, items]) => {
                let order = match self.node(*order) {
                    Node::Bool(true) | Node::Int(1) => ItemOrder::Fortran,
                    _ => ItemOrder::C,
                };
                Some(self.parts(*shape, *dtype, order, *items)?)
            }
            (Node::DType { .. }, _) => None,
            _ => return Err(corrupt("a state belongs to neither an array nor a type")),
        };
        match self.nodes.get_mut(target) {
            Some(Node::Array(made)) => *made = parts,
            Some(Node::DType { state: made, .. }) => *made = state,
            _ => {}
        }
        Ok(())
    }

    fn parts(&self, shape: Place, dtype: Place, order: ItemOrder, items: Place) -> Result<Parts> {
        Ok(Parts { dtype, shape: self.as_tuple(shape)?, order, items: self.as_bytes(items)? })
    }

    fn remember(&mut self, code: u8) -> Result<()> {
        let key = match code {
            b'q' | b'h' => self.length(1)? as u64,
            b'r' | b'j' => self.length(4)? as u64,
            _ => self.memo.len() as u64,
        };
        if matches!(code, b'h' | b'j') {
            let place = self.memo.get(&key).copied();
            self.stack.push(place.ok_or_else(|| corrupt(&format!("value {key} was not remembered")))?);
        } else {
            let top = *self.stack.last().ok_or_else(|| corrupt("a value is missing"))?;
            self.memo.insert(key, top);
        }
        Ok(())
    }

    /// A text; Python 2 had only bytes.
    fn as_text(&self, place: Place) -> Result<&'a str> {
        let bytes = match self.node(place) {
            Node::Text(text) => text.as_bytes(),
            Node::Bytes(range) => self.data.get(range.clone()).unwrap_or_default(),
            _ => return Err(corrupt("a text is needed")),
        };
        match bytes.len() {
            0..=MAX_TEXT => std::str::from_utf8(bytes).map_err(|_| corrupt("a name is no text")),
            len => Err(unsupported(&format!("a text of {len} bytes as a name"))),
        }
    }

    fn as_bytes(&self, place: Place) -> Result<Range<usize>> {
        match self.node(place) {
            Node::Bytes(range) => Ok(range.clone()),
            _ => Err(unsupported("the items are no bytes: they are Python objects")),
        }
    }

    fn as_tuple(&self, place: Place) -> Result<Members> {
        match self.node(place) {
            Node::Tuple(members) => Ok(members.clone()),
            _ => Err(corrupt("a tuple is needed")),
        }
    }

    fn as_u64(&self, place: Place) -> Result<u64> {
        match self.node(place) {
            Node::Int(number) => u64::try_from(*number).map_err(|_| corrupt("a length is negative")),
            _ => Err(corrupt("a length is needed")),
        }
    }

    /// The array that the value at `top` is.
    fn finish(&self, top: Place) -> Result<(NpyHeader, Range<usize>)> {
        let Node::Array(Some(parts)) = self.node(top) else {
            return Err(unsupported("it is no array of NumPy"));
        };
        let mut dtype = String::new();
        self.describe(&mut dtype, parts.dtype, MAX_DEPTH)?;
        let shape = parts.shape.iter().map(|&length| self.as_u64(length)).collect::<Result<Vec<_>>>()?;
        let array = NpyHeader::new(&dtype, shape, parts.order)?;
        if array.nbytes() != parts.items.len() as u64 {
            let (described, there) = (array.nbytes(), parts.items.len());
            return Err(corrupt(&format!("an array of {described} bytes is described, there are {there}")));
        }
        Ok((array, parts.items.clone()))
    }
}

/// Refuses a name that is too long for one.
fn short(name: &str) -> Result<&str> {
    match name.len() {
        0..=MAX_NAME => Ok(name),
        len => Err(unsupported(&format!("a name of {len} bytes"))),
    }
}

pub(super) fn corrupt(message: &str) -> Error {
    Error::new(ErrorKind::Corrupt, message.to_owned())
}

pub(super) fn unsupported(message: &str) -> Error {
    Error::new(ErrorKind::Unsupported, message.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `pickle.dumps(numpy.arange(4, dtype='<u2').reshape(2, 2), 5)`, with the name of the function
    /// and what is behind it to be replaced.
    fn pickle(module: &str, function: &str, arguments: &[u8]) -> Vec<u8> {
        let text = |text: &str| [&[0x8c, u8::try_from(text.len()).unwrap()], text.as_bytes()].concat();
        [&b"\x80\x05"[..], &text(module), b"\x94", &text(function), b"\x93", arguments, b"R."].concat()
    }

    const DTYPE: &[u8] = b"cnumpy\ndtype\nU\x02u2\x85R(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb";

    fn arguments(items: &[u8]) -> Vec<u8> {
        let len = u8::try_from(items.len()).unwrap();
        [&b"(C"[..], &[len], items, DTYPE, b"K\x02K\x02\x86\x8c\x01Ft"].concat()
    }

    #[test]
    fn an_array_is_found_with_its_type_shape_and_order() {
        let data = pickle("numpy._core.numeric", "_frombuffer", &arguments(&[0, 1, 2, 3, 4, 5, 6, 7]));
        let (array, items) = pickled_array(&data).unwrap().unwrap();
        assert_eq!((array.dtype().as_str(), array.shape(), array.order()), ("<u2", &[2, 2][..], ItemOrder::Fortran));
        assert_eq!(data[items], [0, 1, 2, 3, 4, 5, 6, 7]);
        for len in 0..data.len() {
            assert!(!matches!(pickled_array(&data[..len]), Ok(Some(_))), "{len} of {} bytes", data.len());
        }
    }

    #[test]
    fn every_changed_byte_is_an_array_an_error_or_no_pickle() {
        let data = pickle("numpy.core.numeric", "_frombuffer", &arguments(&[7; 8]));
        for at in 0..data.len() {
            for value in 0..=u8::MAX {
                let mut changed = data.clone();
                changed[at] = value;
                if let Ok(Some((array, items))) = pickled_array(&changed) {
                    assert_eq!(array.nbytes(), items.len() as u64);
                }
            }
        }
    }

    #[test]
    fn whatever_else_is_called_is_refused_by_its_name_and_not_run() {
        for (module, function) in [("os", "system"), ("builtins", "eval"), ("numpy", "load"), ("posix", "system")] {
            let data = pickle(module, function, b"\x8c\x0btouch /gone\x85");
            let error = pickled_array(&data).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unsupported);
            assert!(error.to_string().contains(&format!("{module}.{function} is called")), "{error}");
        }
    }

    #[test]
    fn items_that_are_missing_or_too_many_are_an_error() {
        for count in [0, 7, 9] {
            let data = pickle("numpy.core.numeric", "_frombuffer", &arguments(&vec![1; count]));
            let message = pickled_array(&data).unwrap_err().to_string();
            assert_eq!(message, format!("pickle: an array of 8 bytes is described, there are {count}"));
        }
    }

    #[test]
    fn other_data_is_no_pickle() {
        for data in [&b""[..], b".", b"\x80\x05.", b"\x80\x02abc.", b"\x80\x05\x8c\xff.", b"\x93NUMPY."] {
            assert!(pickled_array(data).unwrap().is_none(), "{data:x?}");
        }
    }

    /// A type with two fields that are both the type before it, and so on: short to write, endless
    /// to describe.
    fn doubled(times: u32) -> Vec<u8> {
        let number = |number: u64| [&b"\x8a\x08"[..], &number.to_le_bytes()].concat();
        let start = b"cnumpy\ndtype\nU\x02u1\x85R(K\x03U\x01|";
        if times == 0 {
            return [&start[..], b"NNNK\x01K\x01K\x00tb"].concat();
        }
        let before = times.saturating_sub(1);
        let (inner, half) = (doubled(before), 1_u64.wrapping_shl(before));
        let fields =
            [b"}(U\x01a", &inner[..], b"q\x00", &number(0), b"\x86U\x01bh\x00", &number(half), b"\x86u"].concat();
        [&start[..], b"NU\x01aU\x01b\x86", &fields, &number(half.saturating_mul(2)), b"K\x01K\x00tb"].concat()
    }

    #[test]
    fn a_type_that_holds_others_again_and_again_is_refused_in_time() {
        let array = |times| [&b"(C\x00"[..], &doubled(times), b"K\x00\x85\x8c\x01Ct"].concat();
        let small = pickle("numpy.core.numeric", "_frombuffer", &array(3));
        assert_eq!(pickled_array(&small).unwrap().unwrap().0.itemsize(), 8);
        let large = pickle("numpy.core.numeric", "_frombuffer", &array(40));
        let message = pickled_array(&large).unwrap_err().to_string();
        assert!(message.contains("a description of more than"), "{message}");
    }
}
