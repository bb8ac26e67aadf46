// What each patch of a face says, drawn over it: the same picture as lightproof/plots/patch_overlay.py makes.

const FAINTEST = 0.15;
const STRONGEST = 0.9; // how much of the face the color covers where a patch says nothing, and where it says most
const PALING = 0.98; // quantile of the strongest color: not the one patch that pales all others

/** ColorBrewer's RdBu: red against, blue for, white neither; told apart by everybody. */
const COLORS = [
  [103, 0, 31], [178, 24, 43], [214, 96, 77], [244, 165, 130], [253, 219, 199], [247, 247, 247],
  [209, 229, 240], [146, 197, 222], [67, 147, 195], [33, 102, 172], [5, 48, 97],
];

/** Color of a value from -1 to 1. */
function colorOf(value) {
  const place = ((Math.min(1, Math.max(-1, value)) + 1) / 2) * (COLORS.length - 1);
  const low = Math.min(COLORS.length - 2, Math.floor(place));
  return COLORS[low].map((part, i) => Math.round(part + (place - low) * (COLORS[low + 1][i] - part)));
}

/** The value that has the strongest color. */
export function strongest(patches) {
  const sizes = patches.map(({ value }) => Math.abs(value)).sort((a, b) => a - b);
  const place = PALING * (sizes.length - 1);
  const low = Math.floor(place);
  const between = sizes[low] + (place - low) * ((sizes[low + 1] ?? sizes[low]) - sizes[low]);
  return between || 1;
}

/** The patches that count most, whichever way they speak. */
export function foremost({ patches, columns }, count) {
  return patches
    .map((patch, i) => ({ ...patch, row: Math.floor(i / columns), column: i % columns }))
    .sort((a, b) => Math.abs(b.value) - Math.abs(a.value))
    .slice(0, count);
}

/** Draw the face as it was compared, and over it the map, unless only the face is wanted. */
export function draw(canvas, explanation, face, withMap) {
  const { width, height, patches, columns } = explanation;
  const zoom = Math.max(2, Math.ceil((2 * canvas.clientWidth || 640) / width));
  canvas.width = zoom * width;
  canvas.height = zoom * height;
  const context = canvas.getContext("2d");
  context.imageSmoothingQuality = "high";
  context.drawImage(face, 0, 0, canvas.width, canvas.height);
  if (!withMap) return;
  lift(context, canvas);
  const top = strongest(patches);
  const stride = [
    patches[1]?.left - patches[0].left || patches[0].width,
    patches[columns]?.top - patches[0].top || patches[0].height,
  ];
  for (const { left, top: above, width: wide, height: high, value } of patches) {
    const part = Math.min(1, Math.abs(value) / top);
    const [red, green, blue] = colorOf(value / top);
    context.fillStyle = `rgb(${red} ${green} ${blue} / ${FAINTEST + (STRONGEST - FAINTEST) * part})`;
    // A patch is drawn as the part in its middle that is one stride wide: whole ones would hide each other.
    const x = zoom * (left + (wide - stride[0]) / 2);
    const y = zoom * (above + (high - stride[1]) / 2);
    const [right, bottom] = [x + zoom * stride[0], y + zoom * stride[1]];
    // Whole pixels, or hairlines show between neighbors.
    context.fillRect(
      Math.round(x),
      Math.round(y),
      Math.round(right) - Math.round(x),
      Math.round(bottom) - Math.round(y),
    );
  }
}

/** Lift a dark face for the eye only, or the colors would float on black. */
function lift(context, canvas) {
  const pixels = context.getImageData(0, 0, canvas.width, canvas.height);
  const curve = Uint8ClampedArray.from({ length: 256 }, (_, grey) => 255 * Math.sqrt(grey / 255));
  for (let i = 0; i < pixels.data.length; i++) {
    if (i % 4 < 3) pixels.data[i] = curve[pixels.data[i]]; // all but the opacity
  }
  context.putImageData(pixels, 0, 0);
}
