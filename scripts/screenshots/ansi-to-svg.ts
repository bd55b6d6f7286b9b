// Converts captured terminal lines with ANSI color codes to an SVG image.

/** A segment of a line with one style. */
type StyledRun = {
  readonly text: string;
  readonly colour: string;
  readonly back: string | undefined;
  readonly bold: boolean;
  readonly dim: boolean;
  readonly struck: boolean;
};

type TextStyle = Omit<StyledRun, 'text'>;

const basicColours = ['#3c3836', '#fb4934', '#b8bb26', '#fabd2f', '#83a598', '#d3869b', '#8ec07c', '#ebdbb2'];
const brightColours = ['#928374', '#fb4934', '#b8bb26', '#fabd2f', '#83a598', '#d3869b', '#8ec07c', '#fbf1c7'];
const defaultStyle: TextStyle = { colour: '#ebdbb2', back: undefined, bold: false, dim: false, struck: false };

/** Returns the color of a palette index. */
function getPaletteColour(n: number): string {
  if (n < 8) return basicColours[n] as string;
  if (n < 16) return brightColours[n - 8] as string;
  if (n >= 232) return formatHexColour([n, n, n].map((each) => (each - 232) * 10 + 8));
  const level = (each: number): number => (each === 0 ? 0 : each * 40 + 55);
  const at = n - 16;
  return formatHexColour([level(Math.floor(at / 36)), level(Math.floor(at / 6) % 6), level(at % 6)]);
}

const formatHexColour = (parts: readonly number[]): string =>
  `#${parts.map((each) => each.toString(16).padStart(2, '0')).join('')}`;

/** Returns the style after a color code. */
function applySgrCodes(look: TextStyle, codes: readonly number[]): TextStyle {
  let now = look;
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i] as number;
    if (code === 0) now = defaultStyle;
    else if (code === 1) now = { ...now, bold: true };
    else if (code === 2) now = { ...now, dim: true };
    else if (code === 7) now = { ...now, colour: '#1d2021', back: '#ebdbb2' };
    else if (code === 9) now = { ...now, struck: true };
    else if (code === 29) now = { ...now, struck: false };
    else if (code === 22) now = { ...now, bold: false, dim: false };
    else if (code === 27) now = { ...now, colour: defaultStyle.colour, back: undefined };
    else if (code >= 30 && code <= 37) now = { ...now, colour: basicColours[code - 30] as string };
    else if (code >= 90 && code <= 97) now = { ...now, colour: brightColours[code - 90] as string };
    else if (code === 39) now = { ...now, colour: defaultStyle.colour };
    else if (code === 49) now = { ...now, back: undefined };
    else if (code >= 40 && code <= 47) now = { ...now, back: basicColours[code - 40] };
    else if (code === 38 || code === 48) {
      const wide = codes[i + 1] === 2;
      const colour = wide ? formatHexColour(codes.slice(i + 2, i + 5)) : getPaletteColour(codes[i + 2] ?? 7);
      now = code === 38 ? { ...now, colour } : { ...now, back: colour };
      i += wide ? 4 : 2;
    }
  }
  return now;
}

/** Splits a line into segments. */
function parseStyledRuns(line: string): readonly StyledRun[] {
  const runs: StyledRun[] = [];
  let look = defaultStyle;
  // eslint-disable-next-line no-control-regex
  for (const piece of line.split(/(\u001b\[[\d;]*m)/)) {
    // eslint-disable-next-line no-control-regex
    const codes = /^\u001b\[([\d;]*)m$/.exec(piece)?.[1];
    if (codes !== undefined) look = applySgrCodes(look, codes === '' ? [0] : codes.split(';').map(Number));
    else if (piece) runs.push({ text: piece, ...look });
  }
  return runs;
}

const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
const cellWidth = 8.13;
const rowHeight = 18;

/** Renders captured lines as SVG; empty lines at the end are omitted. */
export function renderSvg(captured: string, columns: number): string {
  const lines = captured.replace(/\s+$/, '').split('\n');
  const texts = lines.map((line, i) => {
    let at = 0;
    return parseStyledRuns(line)
      .map(({ text, colour, back, bold, dim, struck }) => {
        const x = (12 + at * cellWidth).toFixed(1);
        at += text.length;
        const box = back
          ? `<rect x="${x}" y="${14 + i * rowHeight}" width="${(text.length * cellWidth).toFixed(1)}" height="${rowHeight}" fill="${back}"/>`
          : '';
        if (!text.trim()) return box;
        const look = `${bold ? ' font-weight="bold"' : ''}${dim ? ' opacity="0.65"' : ''}${struck ? ' text-decoration="line-through"' : ''}`;
        return `${box}<text x="${x}" y="${28 + i * rowHeight}" fill="${colour}"${look} xml:space="preserve" textLength="${(text.length * cellWidth).toFixed(1)}">${escapeXml(text)}</text>`;
      })
      .join('');
  });
  const height = 30 + lines.length * rowHeight;
  const width = Math.ceil(24 + columns * cellWidth);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="13.5">
<rect width="100%" height="100%" rx="8" fill="#1d2021"/>
${texts.filter(Boolean).join('\n')}
</svg>
`;
}
