/** The page of the progress window: one document without anything from elsewhere, since there is no service yet. */

/** Texts are escaped: a folder may have any name. `icon`: a PNG in base64. */
export function progressPage({ folder, icon }: { folder: string; icon: string }): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>Opening Corollary</title>
<style>
:root { color-scheme: light dark; --surface: #ffffff; --text: #1c222b; --dim: #566070; --accent: #305dd6; --line: #c5ccd6; }
@media (prefers-color-scheme: dark) {
  :root { --surface: #1b1f26; --text: #dde2ea; --dim: #a1abb9; --accent: #7ea2ff; --line: #465060; }
}
body { margin: 0; padding: 24px; background: var(--surface); color: var(--text); font: 14px system-ui, sans-serif; cursor: default; user-select: none; }
main { display: grid; grid-template-columns: 48px 1fr; gap: 6px 16px; align-items: center; }
h1 { margin: 0; font-size: 16px; font-weight: 600; }
p { margin: 0; color: var(--dim); font-size: 12px; }
#folder { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.bar { grid-column: 1 / -1; display: grid; grid-template-columns: 1fr 4ch auto; gap: 12px; align-items: center; margin-top: 12px; }
progress { width: 100%; accent-color: var(--accent); }
output { text-align: right; font-variant-numeric: tabular-nums; }
button { font: inherit; padding: 4px 16px; border: 1px solid var(--line); border-radius: 4px; background: none; color: inherit; }
button:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
</style>
</head>
<body>
<main>
<img src="data:image/png;base64,${icon}" width="48" height="48" alt="">
<div><h1>Opening Corollary…</h1><p id="folder" title="${escaped(folder)}">${escaped(folder)}</p></div>
<div class="bar">
<progress id="bar" max="100" aria-label="Stored knowledge that has been read"></progress>
<output id="percent"></output>
<button type="button" onclick="window.close()">Quit</button>
</div>
</main>
<script>
function show(percent) {
  document.getElementById('bar').value = percent;
  document.getElementById('percent').textContent = percent + '%';
}
</script>
</body>
</html>
`;
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
