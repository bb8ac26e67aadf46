// A .zip, read in the browser: its list, then one entry at a time. Nothing is held that is not needed.

const END = 0x06054b50;
const LISTED = 0x02014b50;
const LOCAL = 0x04034b50;
const END_BYTES = 22;
const LISTED_BYTES = 46;
const LOCAL_BYTES = 30;
const LONGEST_COMMENT = 0xffff;
const LONGEST_LIST = 64 * 2 ** 20; // bytes of a list that is read at all: 65,535 entries with long names are less
const FULL16 = 0xffff;
const FULL32 = 0xffffffff;
const STORED = 0;
const DEFLATED = 8;
const ENCRYPTED = 1;
const IS_UTF8 = 1 << 11;

// What old programs write names in: the upper half of code page 437.
const OLD_LETTERS =
  "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐" +
  "└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0";

/** A zip that cannot be read; `message` is the sentence to show. */
export class BadZip extends Error {}

/** List the files of a zip. Each entry has `path`, `size` (as the zip says), and what `extract` needs. */
export async function listed(file) {
  const { at, length, count } = await findList(file);
  const view = new DataView(await file.slice(at, at + length).arrayBuffer());
  const entries = [];
  for (let place = 0, i = 0; i < count; i++) {
    if (place + LISTED_BYTES > view.byteLength || view.getUint32(place, true) !== LISTED) throw damaged();
    const flags = view.getUint16(place + 8, true);
    const nameLength = view.getUint16(place + 28, true);
    const moreLength = view.getUint16(place + 30, true) + view.getUint16(place + 32, true);
    const next = place + LISTED_BYTES + nameLength + moreLength;
    if (next > view.byteLength) throw damaged();
    const entry = {
      path: nameFrom(new Uint8Array(view.buffer, place + LISTED_BYTES, nameLength), flags & IS_UTF8),
      method: view.getUint16(place + 10, true),
      packed: view.getUint32(place + 20, true),
      size: view.getUint32(place + 24, true),
      offset: view.getUint32(place + 42, true),
    };
    place = next;
    if (entry.path.endsWith("/")) continue;
    if (flags & ENCRYPTED) throw new BadZip("The zip is encrypted: make one without a password.");
    if ([entry.packed, entry.size, entry.offset].includes(FULL32)) throw tooLarge();
    entries.push(entry);
  }
  return entries;
}

/** Unpack one entry to a Blob, but not more than `cap` bytes of it, whatever the zip says of its size. */
export async function extract(file, entry, cap) {
  const head = new DataView(await file.slice(entry.offset, entry.offset + LOCAL_BYTES).arrayBuffer());
  if (head.byteLength < LOCAL_BYTES || head.getUint32(0, true) !== LOCAL) throw damaged();
  const start = entry.offset + LOCAL_BYTES + head.getUint16(26, true) + head.getUint16(28, true);
  const packed = file.slice(start, start + entry.packed);
  if (packed.size !== entry.packed) throw damaged();
  if (entry.method !== STORED && entry.method !== DEFLATED) {
    throw new BadZip("Packed in an unusual way: only stored and deflated files are read.");
  }
  const stream = packed.stream();
  const plain = entry.method === STORED ? stream : stream.pipeThrough(new DecompressionStream("deflate-raw"));
  const unpacked = await upTo(plain, cap);
  if (unpacked.size !== entry.size) throw damaged();
  return unpacked;
}

/** The end of a zip says where its list is; a comment of any length may follow it. */
async function findList(file) {
  const from = Math.max(0, file.size - END_BYTES - LONGEST_COMMENT);
  const view = new DataView(await file.slice(from).arrayBuffer());
  for (let place = view.byteLength - END_BYTES; place >= 0; place--) {
    if (view.getUint32(place, true) !== END) continue;
    if (place + END_BYTES + view.getUint16(place + 20, true) !== view.byteLength) continue;
    const count = view.getUint16(place + 10, true);
    const length = view.getUint32(place + 12, true);
    const at = view.getUint32(place + 16, true);
    if (count === FULL16 || length === FULL32 || at === FULL32 || length > LONGEST_LIST) throw tooLarge();
    if (at + length > from + place) throw damaged();
    return { at, length, count };
  }
  throw new BadZip("This is not a zip file, or its end is missing.");
}

async function upTo(stream, cap) {
  const reader = stream.getReader();
  const parts = [];
  let length = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return new Blob(parts);
      length += value.byteLength;
      if (length > cap) throw new BadZip("Larger than a photo may be.");
      parts.push(value);
    }
  } catch (mistake) {
    // Stops the unpacking too: nothing more of a bomb is made.
    reader.cancel().catch(() => {});
    throw mistake instanceof BadZip ? mistake : damaged();
  }
}

function nameFrom(bytes, isUtf8) {
  let text;
  try {
    text = new TextDecoder("utf-8", { fatal: !isUtf8 }).decode(bytes);
  } catch {
    text = Array.from(bytes, (byte) => (byte < 128 ? String.fromCharCode(byte) : OLD_LETTERS[byte - 128])).join("");
  }
  return text.replaceAll("\\", "/");
}

const damaged = () => new BadZip("The zip is damaged.");
const tooLarge = () => new BadZip("The zip is too large to be read here (zip64): make several smaller ones.");
