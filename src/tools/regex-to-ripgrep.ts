// Converts a JavaScript regular expression to a ripgrep pattern that matches at least the same lines. Extra matches are filtered later; missed ones would be lost.

/** Returns the looser pattern; undefined if there is no useful one. The source must be valid without flags, or with `i`. */
export function toRipgrepPattern(source: string): string | undefined {
  let pattern = '';
  let at = 0;
  while (at < source.length) {
    const atom = parseAtom(source, at);
    if (!atom) return undefined;
    at += atom.length;
    quantifierPattern.lastIndex = at;
    const quantifier = quantifierPattern.exec(source)?.[0] ?? '';
    at += quantifier.length;
    const loosePattern = repeatAtom(atom, quantifier.replace(/(?<=.)\?$/, ''));
    if (loosePattern === undefined) return undefined;
    pattern += loosePattern;
  }
  return pattern;
}

/** A part of a pattern. `isLoose` stands for every character that may match half of a surrogate pair, which ripgrep does not have. */
type RegexAtom = {
  readonly length: number;
  readonly text: string;
  readonly isLoose?: boolean;
  readonly isSingle?: boolean;
};

const quantifierPattern = /(?:[*+?]|\{\d+(?:,\d*)?\})\??/y;
const maxRepeat = 1000;

function repeatAtom({ text, isLoose, isSingle }: RegexAtom, quantifier: string): string | undefined {
  if (quantifier === '') return isLoose ? '.?' : text;
  // Only the second half of a surrogate pair would be repeated.
  if (isSingle) return undefined;
  const [, minText = '', maxText] = /^\{(\d+)(,\d*)?\}$/.exec(quantifier) ?? [];
  const maxCount = maxText === undefined ? minText : maxText.slice(1);
  if (Math.max(Number(minText), Number(maxCount)) > maxRepeat) return undefined;
  if (!isLoose) return text + quantifier;
  if (quantifier === '?') return '.?';
  return maxCount === '' ? '.*' : `.{0,${maxCount}}`;
}

function parseAtom(source: string, at: number): RegexAtom | undefined {
  const sign = source.charAt(at);
  if (sign === '\\') return parseEscapeAtom(source, at);
  if (sign === '[') return parseClass(source, at);
  if (sign === '(') {
    const [open = ''] = /^\((?:\?(?::|<[A-Za-z_$][\w$]*>))?/.exec(source.slice(at, at + 100)) ?? [];
    // Ripgrep's default engine has no lookahead or lookbehind.
    return open === '(' && source.charAt(at + 1) === '?' ? undefined : { length: open.length, text: '(?:' };
  }
  if (sign === ')' || sign === '|' || sign === '^') return { length: 1, text: sign };
  // Long lines are searched only up to a limit, where `$` would not match the real end.
  if (sign === '$') return { length: 1, text: '' };
  if (sign === '.') return { length: 1, text: '', isLoose: true };
  return literalAtom(source.codePointAt(at) ?? 0);
}

function literalAtom(code: number, length = code > 0xffff ? 2 : 1): RegexAtom | undefined {
  return isSurrogate(code) ? undefined : { length, text: escapeChar(code), isSingle: code > 0xffff };
}

const isSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdfff;

const escapeChar = (code: number): string => {
  const sign = String.fromCodePoint(code);
  return /^[A-Za-z0-9_]$/.test(sign) ? sign : `\\x{${code.toString(16)}}`;
};

const whitespaceSet =
  '\\t\\x0b\\x0c\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}';
const classSets: Readonly<Record<string, string>> = { d: '0-9', w: '0-9A-Za-z_', s: whitespaceSet };
const controlCodes: Readonly<Record<string, number>> = { t: 9, v: 11, f: 12, r: 13 };

type RegexEscape = { readonly length: number; readonly code?: number; readonly set?: string };

/** Parses an escape: one character or a set; undefined for references and unclear escapes. */
function parseEscape(source: string, at: number): RegexEscape | undefined {
  const letter = source.charAt(at + 1);
  const set = classSets[letter];
  if (set !== undefined) return { length: 2, set };
  const control = controlCodes[letter];
  if (control !== undefined) return { length: 2, code: control };
  const [hex = '', digits = ''] =
    /^\\(?:x([0-9a-f]{2})|u([0-9a-f]{4}))/i.exec(source.slice(at, at + 6))?.filter(Boolean) ?? [];
  if (hex !== '') return { length: hex.length, code: Number.parseInt(digits, 16) };
  const code = source.codePointAt(at + 1) ?? 0;
  return /[\dckux\nnpP]/.test(letter) || code > 0xffff ? undefined : { length: 2, code };
}

function parseEscapeAtom(source: string, at: number): RegexAtom | undefined {
  const letter = source.charAt(at + 1);
  if (letter === 'b' || letter === 'B') return { length: 2, text: '' };
  if (/[DWS]/.test(letter)) return { length: 2, text: '', isLoose: true };
  const sign = parseEscape(source, at);
  if (!sign) return undefined;
  if (sign.set !== undefined) return { length: 2, text: `[${sign.set}]` };
  return literalAtom(sign.code ?? 0, sign.length);
}

/** Parses a class. A negated class, or one that includes surrogates, may match half of a surrogate pair. */
function parseClass(source: string, at: number): RegexAtom | undefined {
  const isNegated = source.charAt(at + 1) === '^';
  let isLoose = isNegated;
  let i = at + (isNegated ? 2 : 1);
  let text = '';
  while (source.charAt(i) !== ']') {
    if (i >= source.length) return undefined;
    if (/^\\[DWS]/.test(source.slice(i, i + 2))) {
      isLoose = true;
      i += 2;
      continue;
    }
    const first = parseClassMember(source, i);
    if (!first) return undefined;
    i += first.length;
    const isRange = source.charAt(i) === '-' && source.charAt(i + 1) !== ']';
    const second = isRange ? parseClassMember(source, i + 1) : undefined;
    if (isRange && (second?.code === undefined || first.code === undefined)) return undefined;
    if (second) i += 1 + second.length;
    const [from, to] = [first.code ?? 0, second?.code ?? first.code ?? 0];
    isLoose ||= from <= 0xdfff && to >= 0xd800;
    text += first.set ?? (second ? `${escapeChar(from)}-${escapeChar(to)}` : escapeChar(from));
  }
  const length = i + 1 - at;
  if (isLoose) return { length, text: '', isLoose: true };
  return text === '' ? undefined : { length, text: `[${text}]` };
}

function parseClassMember(source: string, at: number): RegexEscape | undefined {
  if (source.charAt(at) !== '\\') return { length: 1, code: source.charCodeAt(at) };
  if (source.charAt(at + 1) === 'b') return { length: 2, code: 8 };
  return parseEscape(source, at);
}
