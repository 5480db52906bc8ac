// Shared by the pages: their data, elements, numbers in words, times, files, copying. The scripts
// of a page share one function's scope; those that all pages have come first (page_text.cc).

const data = JSON.parse(document.getElementById('data').textContent);
const root = document.documentElement;
const at = (id) => document.getElementById(id);
const whole = (n) => Math.round(n).toLocaleString('en-US');
const plural = (n, one, many) => whole(n) + ' ' + (n === 1 ? one : many);
const pixels = (d) => (!Number.isFinite(d) ? '\u221e' : d < 0.1 ? d.toFixed(3) : d < 10 ? d.toFixed(2) : d < 100 ? d.toFixed(1) : whole(d)) + ' px';
const baseName = (path) => path.split('/').filter(Boolean).pop() || path;

function make(tag, text, className) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (className) element.className = className;
  return element;
}

function svg(tag, attributes, text) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const key of Object.keys(attributes)) element.setAttribute(key, attributes[key]);
  if (text !== undefined) element.textContent = text;
  return element;
}

const bytesOf = (base64) => Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
const floats = (base64) => new Float32Array(bytesOf(base64).buffer);

// Rounds up to four times a round number.
function roundUp(v) {
  const power = Math.pow(10, Math.floor(Math.log10(Math.max(v, 0.04) / 4)));
  return 4 * power * [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].find((step) => 4 * power * step >= v * 0.999999);
}

// The largest of 1, 2, 5, 10, 20, ... that is not above v.
function roundDown(v) {
  const power = Math.pow(10, Math.floor(Math.log10(v)));
  return power * [5, 2, 1].find((step) => power * step <= v * 1.000001);
}

function resize(canvas, w, h, density) {
  const width = Math.round(w * density), height = Math.round(h * density);
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
}

function figure(name, value, small) {
  const row = make('div'), number = make('dd', value);
  if (small) number.append(make('small', small));
  row.append(make('dt', name), number);
  at('figures').append(row);
}

function milliseconds(ms) {
  return ms < 10 ? ms.toFixed(1) + ' ms' : ms < 1000 ? whole(ms) + ' ms' : (ms / 1000).toFixed(2) + ' s';
}

function copies(button, text) {
  button.addEventListener('click', async () => {
    let done = false;
    try {
      await navigator.clipboard.writeText(text);
      done = true;
    } catch (error) {  // not allowed for a page opened from a file: use the old interface
      const area = make('textarea', text);
      area.style.position = 'fixed';
      area.style.opacity = '0';
      document.body.append(area);
      area.select();
      done = document.execCommand('copy');
      area.remove();
      button.focus();
    }
    button.textContent = done ? 'Copied' : 'Select and copy';
    setTimeout(() => { button.textContent = 'Copy'; }, 1600);
  });
}

const totalTime = () => data.stages.reduce((sum, stage) => sum + stage[1], 0);

function writeStages() {
  const slowest = Math.max(...data.stages.map((stage) => stage[1]), 1e-9);
  for (const [name, ms] of data.stages) {
    const bar = make('div', undefined, 'bar');
    bar.style.width = Math.max(0.5, 100 * ms / slowest) + '%';
    const track = make('div');
    track.append(bar);
    at('stages').append(make('span', name.replace('_', ' ')), track, make('span', milliseconds(ms), 'ms'));
  }
  const sum = make('div', undefined, 'total');
  sum.append(make('span', 'total'), make('span', milliseconds(totalTime())));
  at('stages').append(sum);
}

function writeFiles() {
  for (const name of data.files) {
    const link = make('a', name);
    link.href = name.split('/').map(encodeURIComponent).join('/');
    at('files').append(link);
  }
  at('files').hidden = !data.files.length;
}

function writeHowItWasMade() {
  for (const [name, value] of data.facts) at('facts').append(make('dt', name), make('dd', value));
  at('command').textContent = data.command;
  copies(at('copy-command'), data.command);
}
