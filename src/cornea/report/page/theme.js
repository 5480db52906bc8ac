// Dark or light: the system's setting until the button overrides it. Each page has a function
// draw().

const isDark = () => (root.dataset.theme ||
    (window.matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark';
const nameTheme = () => { at('theme-name').textContent = isDark() ? 'Light' : 'Dark'; };
try {
  const kept = localStorage.getItem('cornea-theme');
  if (kept === 'dark' || kept === 'light') root.dataset.theme = kept;
} catch (error) { /* pages opened from files may have no storage: the system's setting is used */ }
at('theme').addEventListener('click', () => {
  root.dataset.theme = isDark() ? 'light' : 'dark';
  try { localStorage.setItem('cornea-theme', root.dataset.theme); } catch (error) { /* as above */ }
  nameTheme();
  draw();
});
window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { nameTheme(); draw(); });
nameTheme();
