// Which files of a folder or a zip are photos, and of whom.

/** As in lightproof/imaging/decode/format_guards.py. */
const ENDINGS = /\.(jpe?g|png|bmp|gif|p[bgnp]m|tiff?|webp)$/i;

/**
 * Sort files by person: the folder that a photo lies in.
 *
 * `files` have `path`, `size` and `open` (to a Blob). Pictures beside the folders of the people are nobody's; but where
 * there are no other folders, the one that was chosen is the person's.
 */
export function planned(files) {
  const found = files.map((file) => ({ ...file, parts: file.path.split("/").filter(Boolean) }));
  found.sort((a, b) => (a.path < b.path ? -1 : 1)); // browsers list folders in any order
  const seen = found.filter(({ parts }) => !parts.some((part) => part.startsWith(".") || part === "__MACOSX"));
  const pictures = seen.filter(({ path }) => ENDINGS.test(path));
  const top = Math.max(0, ...pictures.map(({ parts }) => parts.length)) > 2 ? commonTop(pictures) : null;
  const people = new Map();
  const homeless = [];
  for (const photo of pictures) {
    const folder = photo.parts.at(-2)?.normalize("NFC").trim();
    if (!folder || (top !== null && photo.parts.length === 2)) homeless.push(photo);
    else if (people.has(folder)) people.get(folder).push(photo);
    else people.set(folder, [photo]);
  }
  return { people, homeless, others: seen.length - pictures.length };
}

/** The folder that everything lies in, or null. */
function commonTop(files) {
  const first = files[0].parts[0];
  return files.every(({ parts }) => parts.length > 1 && parts[0] === first) ? first : null;
}

/** Files that were chosen as a folder. */
export const fromInput = (list) =>
  Array.from(list, (file) => ({ path: file.webkitRelativePath || file.name, size: file.size, open: async () => file }));

/** Files of folders that were dropped. The entries must be taken before anything is awaited, or they are gone. */
export async function fromDrop(transfer) {
  const entries = Array.from(transfer.items, (item) => item.webkitGetAsEntry?.()).filter(Boolean);
  const files = [];
  for (const entry of entries) await collect(entry, files);
  return files;
}

async function collect(entry, files) {
  if (entry.isFile) {
    const file = await new Promise((done, fail) => entry.file(done, fail));
    files.push({ path: entry.fullPath.slice(1), size: file.size, open: async () => file });
    return;
  }
  const reader = entry.createReader();
  for (;;) {
    // A reader gives some entries at a time, until it gives none.
    const some = await new Promise((done, fail) => reader.readEntries(done, fail));
    if (!some.length) return;
    for (const inner of some) await collect(inner, files);
  }
}
