// Decides whether text of a color can be seen on its background; a page without a background is white.

const namedColors: Readonly<Record<string, readonly number[]>> = {
  white: [255, 255, 255],
  snow: [255, 250, 250],
  ivory: [255, 255, 240],
  floralwhite: [255, 250, 240],
  ghostwhite: [248, 248, 255],
  whitesmoke: [245, 245, 245],
  mintcream: [245, 255, 250],
  azure: [240, 255, 255],
  aliceblue: [240, 248, 255],
  seashell: [255, 245, 238],
  black: [0, 0, 0],
};
/** Colors whose parts differ by less cannot be told apart. */
const minDifference = 24;

/** Whether text of a color is not visible. Colors that are not known are visible. */
export function isHiddenColor(color: string | undefined, background: string | undefined): boolean {
  if (color === undefined) return false;
  if (color === 'transparent') return true;
  if (color === background) return true;
  const text = parseColor(color);
  if (!text) return false;
  if (text[3] !== undefined && text[3] < 0.1) return true;
  // A background that cannot be read, such as an image, may be of any color: the text counts as hidden if it is white.
  const behind = (background === undefined ? undefined : parseColor(background)) ?? namedColors['white'] ?? [];
  return [0, 1, 2].every((part) => Math.abs((text[part] ?? 0) - (behind[part] ?? 0)) < minDifference);
}

function parseColor(color: string): readonly number[] | undefined {
  const named = Object.hasOwn(namedColors, color) ? namedColors[color] : undefined;
  if (named) return named;
  const hex = /^#([\da-f]{3,8})$/.exec(color)?.[1];
  if (hex !== undefined) {
    const digits = hex.length < 6 ? Array.from(hex, (digit) => digit + digit).join('') : hex;
    const parts = [0, 2, 4, 6].map((at) => Number.parseInt(digits.slice(at, at + 2), 16));
    return [...parts.slice(0, 3), ...(Number.isNaN(parts[3]) ? [] : [(parts[3] ?? 255) / 255])];
  }
  const numbers = /^rgba?\(([\d.,/%\s]{1,60})\)$/.exec(color)?.[1]?.split(/[,/]/);
  if (numbers)
    return numbers.map((each, i) => (each.endsWith('%') ? (i < 3 ? 2.55 : 0.01) : 1) * Number.parseFloat(each));
  if (/^hsla?\([^)]{1,60}(?:9[5-9]|100)%/.test(color)) return namedColors['white'];
  return undefined;
}
