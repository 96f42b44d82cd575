"use strict";

/* Data of the page, as packing.py wrote it: the arrays stand in `data.arrays` by name. */
async function unpack(text) {
  const letters = atob(text.trim());
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const buffer = await new Response(stream).arrayBuffer();
  const size = new DataView(buffer).getUint32(0, true);
  const data = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, size)));
  const kinds = { f4: Float32Array, f8: Float64Array, u1: Uint8Array, u4: Uint32Array, i2: Int16Array, i4: Int32Array };
  for (const [name, [kind, start, length]] of Object.entries(data.arrays)) {
    data.arrays[name] = new kinds[kind](buffer, 4 + size + start, length);
  }
  return data;
}

/* Sheets of thumbnails as images that a canvas can draw. */
async function sheets(data, cloud) {
  const { sprites } = data.clouds[cloud];
  if (!sprites) return [];
  return Promise.all(Array.from({ length: sprites.sheets }, (_, i) =>
    createImageBitmap(new Blob([data.arrays[`${cloud}.sheet.${i}`]], { type: `image/${sprites.kind}` }))));
}
