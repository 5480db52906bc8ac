// Thumbnails and lines. They are in the page itself, or in files beside it that are loaded on
// demand. These files are scripts, because a page opened from disk may not load anything else.

const parts = {thumbnails: [], lines: []};
// Callbacks for parts that have not been loaded yet.
const expected = {thumbnails: new Map(), lines: new Map()};

window.corneaPart = (what, number, key, contents) => {
  if (key !== data.key) {
    reportParts('belong to another run');
    return;
  }
  parts[what][number] = contents;
  for (const then of expected[what].get(number) || []) then();
  expected[what].delete(number);
};

function reportParts(problem) {
  at('parts-problem').hidden = false;
  at('parts-problem').textContent = 'Files in the folder ' + data.parts.folder + ' beside this page ' + problem +
      ': some thumbnails and lines cannot be shown. Copy the folder together with the page, or make the page again.';
}

// The part that an image or a pair is in.
function partOf(what, index) {
  const firsts = data.parts[what];
  let low = 0, high = firsts.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (firsts[middle] <= index) low = middle;
    else high = middle;
  }
  return low;
}

function withPart(what, number, then) {
  if (parts[what][number]) return then();
  const waiting = expected[what].get(number);
  if (waiting) {
    waiting.push(then);
    return undefined;
  }
  expected[what].set(number, [then]);
  const script = make('script');
  script.src = data.parts.folder + '/' + what + '-' + String(number).padStart(3, '0') + '.js';
  script.onerror = () => reportParts('are missing');
  document.body.append(script);
  return undefined;
}

// ---- Thumbnails -----------------------------------------------------------------------------

const kSmall = 128;  // longest side of the thumbnails in the graph and the matrix
const thumbnails = new Map();
let thumbnailsCome = 0;

// {image, small} once it is loaded, otherwise null; `then` is called when it is loaded.
function thumbnail(i, then) {
  const known = thumbnails.get(i);
  if (known) {
    if (known.small) return known;
    if (then) known.then.add(then);
    return null;
  }
  if (images.problems[i]) return null;
  const entry = {image: null, small: null, then: new Set(then ? [then] : [])};
  thumbnails.set(i, entry);
  const part = partOf('thumbnails', i);
  withPart('thumbnails', part, () => {
    const base64 = parts.thumbnails[part][i - data.parts.thumbnails[part]];
    if (!base64) return;
    const image = new Image();
    image.onload = () => {
      const scale = Math.min(1, kSmall / Math.max(image.naturalWidth, image.naturalHeight));
      const small = make('canvas');
      small.width = Math.max(1, Math.round(image.naturalWidth * scale));
      small.height = Math.max(1, Math.round(image.naturalHeight * scale));
      const pen = small.getContext('2d');
      pen.imageSmoothingQuality = 'high';
      pen.drawImage(image, 0, 0, small.width, small.height);
      entry.image = image;
      entry.small = small;
      thumbnailsCome += 1;
      for (const call of entry.then) call();
      entry.then.clear();
    };
    image.src = 'data:image/jpeg;base64,' + base64;
  });
  return thumbnails.get(i).small ? entry : null;
}

// An element that shows the thumbnail of an image, or that there is none. An <img>, because many
// canvases would each be a layer of their own, which costs time in every frame.
function thumbnailElement(i, side) {
  const missing = Boolean(images.problems[i]), element = make(missing ? 'span' : 'img', undefined, missing ? 'thumb none' : 'thumb');
  const w = images.width[i] || 4, h = images.height[i] || 3, scale = side / Math.max(w, h);
  element.style.width = Math.max(1, Math.round(w * scale)) + 'px';
  element.style.height = Math.max(1, Math.round(h * scale)) + 'px';
  if (missing) return element;
  element.alt = '';
  const paint = () => {
    const entry = thumbnail(i, paint);
    if (entry) element.src = entry.image.src;
  };
  paint();
  return element;
}

// ---- Lines ----------------------------------------------------------------------------------

// Lines of a pair: x1, y1, x2, y2 as fractions of the sides, one line after the other.
function withLines(p, then) {
  const number = partOf('lines', p);
  withPart('lines', number, () => {
    const part = parts.lines[number];
    if (!part.ready) {
      part.ready = {ends: column(part.ends, Uint32Array), places: column(part.places, Uint16Array)};
      part.ends = part.places = null;
    }
    const k = p - data.parts.lines[number], from = k ? part.ready.ends[k - 1] : 0;
    then(part.ready.places.subarray(4 * from, 4 * part.ready.ends[k]));
  });
}
