//! A decoder that is so simple that it can be trusted: it goes byte by byte and bit by bit.

use alloc::vec;
use alloc::vec::Vec;

/// What `src` decodes to, if the stream is good and makes at most `room` bytes.
pub(super) fn decode(src: &[u8], room: usize) -> Option<Vec<u8>> {
    let mut src = Bytes(src);
    let level = src.number(1)?;
    if !(10..50).contains(&level) {
        return None;
    }
    let mut data = Vec::new();
    while !src.0.is_empty() {
        let flags = src.number(1)?;
        if flags == 0x80 {
            let len = src.number(3)?;
            data.extend(src.take(len)?);
        } else {
            let before = data.len();
            coded_block(&mut src, flags, (level / 10) % 2 == 1, &mut data, room)?;
            if data.len() == before {
                return None;
            }
        }
        if data.len() > room {
            return None;
        }
    }
    Some(data).filter(|data| !data.is_empty())
}

struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self, len: usize) -> Option<usize> {
        Some(self.take(len)?.iter().rev().fold(0, |number, &byte| number << 8 | usize::from(byte)))
    }

    fn length(&mut self, bits: usize, most: usize) -> Option<usize> {
        if bits < most {
            return Some(bits);
        }
        Some(
            most + match self.number(1)? {
                254 => self.number(2)?,
                255 => self.number(3)?,
                value => value,
            },
        )
    }
}

fn coded_block(src: &mut Bytes<'_>, flags: usize, is_lz4: bool, data: &mut Vec<u8>, room: usize) -> Option<()> {
    if flags & 0xf0 != 0 {
        return None;
    }
    part(src, false)?;
    let offsets16 = part(src, flags & 4 != 0)?;
    let offsets24 = part(src, flags & 8 != 0)?;
    let tokens = part(src, flags & 2 != 0)?;
    let literals = part(src, flags & 1 != 0)?;
    let [mut offsets16, mut offsets24, mut literals] = [Bytes(&offsets16), Bytes(&offsets24), Bytes(&literals)];
    let mut last = 0;
    for token in tokens.into_iter().map(usize::from) {
        let before = data.len();
        let len;
        if is_lz4 {
            let run = literals.length(token & 15, 15)?;
            data.extend(literals.take(run)?);
            last = literals.number(2)?;
            len = 4 + literals.length(token >> 4, 15)?;
        } else if token < 32 {
            last = offsets24.number(3)?;
            len = 16 + literals.length(token, 31)?;
        } else {
            let run = literals.length(token & 7, 7)?;
            data.extend(literals.take(run)?);
            if token < 128 {
                last = offsets16.number(2)?;
            }
            len = literals.length(token >> 3 & 15, 15)?;
        }
        if len > 0 && (last < 8 || last > data.len()) || len > room {
            return None;
        }
        for _ in 0..len {
            data.push(data[data.len() - last]);
        }
        if data.len() == before || data.len() > room {
            return None;
        }
    }
    data.extend(literals.0);
    Some(())
}

fn part(src: &mut Bytes<'_>, is_coded: bool) -> Option<Vec<u8>> {
    let len = src.number(3)?;
    if !is_coded {
        return Some(src.take(len)?.to_vec());
    }
    let coded_len = src.number(3)?;
    if len == 0 || len > 131_072 || coded_len > len {
        return None;
    }
    let coded = src.take(coded_len)?;
    match coded_len {
        _ if coded_len == len => Some(coded.to_vec()),
        1 => Some(vec![coded[0]; len]),
        _ => huffman(coded, len),
    }
}

fn huffman(coded: &[u8], len: usize) -> Option<Vec<u8>> {
    let mut src = Bytes(coded);
    let codes = codes(&weights(&mut src)?)?;
    let mut lens = [src.number(2)?, src.number(2)?, src.number(2)?, 0];
    lens[3] = src.0.len().checked_sub(lens.iter().sum())?;
    let quarter = len.div_ceil(4);
    let mut data = Vec::new();
    for (stream, count) in lens.into_iter().zip([quarter, quarter, quarter, len.checked_sub(3 * quarter)?]) {
        let mut bits = backward_bits(src.take(stream)?)?.into_iter();
        for _ in 0..count {
            let mut code = Vec::new();
            data.push(loop {
                code.push(bits.next()?);
                if let Some((byte, _)) = codes.iter().find(|(_, other)| *other == code) {
                    break *byte;
                }
            });
        }
        if bits.next().is_some() {
            return None;
        }
    }
    Some(data)
}

/// The bits below the mark, in the order in which they are read.
fn backward_bits(bytes: &[u8]) -> Option<Vec<bool>> {
    if *bytes.last()? == 0 {
        return None;
    }
    let bits = bytes.iter().rev().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1 == 1));
    Some(bits.skip_while(|bit| !bit).skip(1).collect())
}

fn weights(src: &mut Bytes<'_>) -> Option<Vec<u8>> {
    let first = src.number(1)?;
    let mut weights = if first < 128 {
        fse_weights(src.take(first)?)?
    } else {
        let count = first - 127;
        let bytes = src.take(count.div_ceil(2))?;
        bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).take(count).collect()
    };
    if weights.iter().any(|&weight| weight > 11) || weights.len() > 255 {
        return None;
    }
    let sum: usize = weights.iter().map(|&weight| (1 << weight) / 2).sum();
    let all = (0..=12).map(|bits| 1 << bits).find(|&all| all > sum)?;
    let last = (0..=12).find(|&weight| (1 << weight) / 2 == all - sum && weight > 0)?;
    weights.push(last);
    let longest = weights.iter().filter(|&&weight| weight == 1).count();
    (sum > 0 && longest >= 2 && longest % 2 == 0).then_some(weights)
}

/// Each byte that has a code, with its code.
fn codes(weights: &[u8]) -> Option<Vec<(u8, Vec<bool>)>> {
    let sum: usize = weights.iter().map(|&weight| (1 << weight) / 2).sum();
    let bits = sum.ilog2() as usize;
    let mut next = 0;
    let mut codes = Vec::new();
    for weight in 1..=12 {
        for byte in (0..weights.len()).filter(|&byte| weights[byte] == weight) {
            let len = bits + 1 - usize::from(weight);
            let code = (0..len).map(|at| next >> (bits - 1 - at) & 1 == 1).collect();
            codes.push((u8::try_from(byte).ok()?, code));
            next += 1 << (weight - 1);
        }
    }
    Some(codes)
}

fn fse_weights(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut forward = bytes.iter().flat_map(|byte| (0..8).map(move |bit| usize::from(byte >> bit & 1)));
    let mut read = 0;
    let mut number = |bits: usize| {
        read += bits;
        (0..bits).map(|bit| forward.next().unwrap_or(0) << bit).sum::<usize>()
    };
    let accuracy = 5 + number(4);
    if bytes.len() < 4 || accuracy > 6 {
        return None;
    }
    let size = 1_usize << accuracy;
    let mut counts: Vec<isize> = Vec::new();
    let mut remaining = size + 1;
    while remaining > 1 {
        let bits = usize::try_from(remaining.ilog2()).ok()?;
        let most = (2 << bits) - 1 - remaining;
        let mut value = number(bits);
        if value >= most {
            value += number(1) << bits;
            if value >= 1 << bits {
                value -= most;
            }
        }
        let count = value.cast_signed() - 1;
        counts.push(count);
        remaining -= count.unsigned_abs();
        let mut more = if count == 0 { 3 } else { 0 };
        while more == 3 {
            more = number(2);
            counts.extend(vec![0; more]);
        }
        if counts.len() > 256 {
            return None;
        }
    }
    let bits = backward_bits(bytes.get(read.div_ceil(8)..)?)?;
    fse_symbols(&fse_cells(&counts, size, accuracy), &bits, accuracy)
}

/// For each state: symbol, how many bits to read, what to add them to.
fn fse_cells(counts: &[isize], size: usize, accuracy: usize) -> Vec<(u8, usize, usize)> {
    let mut symbols = vec![None; size];
    let rare = counts.iter().enumerate().filter(|(_, count)| **count == -1);
    for (cell, (symbol, _)) in (0..size).rev().zip(rare) {
        symbols[cell] = Some(symbol);
    }
    let mut places = (0..).map(|i| i * (size / 2 + size / 8 + 3) % size);
    for (symbol, &count) in counts.iter().enumerate() {
        for _ in 0..count.max(0) {
            let place =
                places.find(|&place| symbols[place].is_none()).expect("the counts are as many as there are cells");
            symbols[place] = Some(symbol);
        }
    }
    let mut met: Vec<usize> = counts.iter().map(|count| count.unsigned_abs()).collect();
    let cell = |symbol: Option<usize>| {
        let symbol = symbol.expect("every cell has a symbol");
        let bits = accuracy - met[symbol].ilog2() as usize;
        met[symbol] += 1;
        (u8::try_from(symbol).expect("at most 256"), bits, ((met[symbol] - 1) << bits) - size)
    };
    symbols.into_iter().map(cell).collect()
}

fn fse_symbols(cells: &[(u8, usize, usize)], bits: &[bool], accuracy: usize) -> Option<Vec<u8>> {
    let mut at = 0;
    let mut take = |count: usize| {
        at += count;
        Some(bits.get(at - count..at)?.iter().fold(0, |number, &bit| number << 1 | usize::from(bit)))
    };
    let mut states = [take(accuracy)?, take(accuracy)?];
    let mut symbols = Vec::new();
    while symbols.len() <= 256 {
        let (symbol, bits, base) = cells[states[0]];
        symbols.push(symbol);
        let Some(more) = take(bits) else {
            symbols.push(cells[states[1]].0);
            return Some(symbols);
        };
        states = [states[1], base + more];
    }
    None
}
