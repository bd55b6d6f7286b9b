// Generates texts that match a regular expression, so that published secret rules can be turned into samples.

type SampleMaker = () => string;

const range = (from: string, to: string): readonly string[] =>
  Array.from({ length: to.charCodeAt(0) - from.charCodeAt(0) + 1 }, (_, at) =>
    String.fromCharCode(from.charCodeAt(0) + at),
  );
const alphanumerics = [...range('a', 'z'), ...range('A', 'Z'), ...range('0', '9')];
const classes: Readonly<Record<string, readonly string[]>> = {
  d: range('0', '9'),
  w: [...alphanumerics, '_'],
  s: [' '],
  S: alphanumerics,
  n: ['\n'],
  r: ['\r'],
  t: ['\t'],
  ...Object.fromEntries(['b', 'z', 'A', 'B'].map((name) => [name, ['']])),
};

/** Returns a generator of matching texts; `pick` returns a number below its argument. Throws on unsupported syntax. */
export function createRegexSampler(source: string, pick: (count: number) => number): SampleMaker {
  let at = 0;
  const oneOf =
    (letters: readonly string[]): SampleMaker =>
    () =>
      letters[pick(letters.length)] ?? '';
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(source);
    if (found) at += found[0].length;
    return found;
  };

  function alternatives(): SampleMaker {
    const all = [sequence()];
    while (take(/\|/y)) all.push(sequence());
    return () => all[pick(all.length)]?.() ?? '';
  }

  function sequence(): SampleMaker {
    const parts: SampleMaker[] = [];
    while (at < source.length && !/[|)]/.test(source[at] ?? '')) parts.push(repeated(atom()));
    return () => parts.map((part) => part()).join('');
  }

  function repeated(part: SampleMaker): SampleMaker {
    const found = take(/(?:\*|\+|\?|\{(\d+)(,(\d*))?\})[?+]?/y);
    if (!found) return part;
    const [sign, least, more, most] = found;
    const from = least === undefined ? (sign.startsWith('+') ? 1 : 0) : Number(least);
    const to =
      least === undefined
        ? sign.startsWith('?')
          ? 1
          : from + 5
        : more === undefined
          ? from
          : Number(most || from + 6);
    return () => Array.from({ length: from + pick(Math.min(to - from, 8) + 1) }, part).join('');
  }

  function atom(): SampleMaker {
    if (take(/\(\?[a-z-]+\)/y)) return () => '';
    if (take(/\((?:\?(?:[a-z-]*:|P?<\w+>))?/y)) {
      const inner = alternatives();
      if (!take(/\)/y)) throw new Error(`No end of a group at ${at}`);
      return inner;
    }
    if (take(/\[/y)) return set();
    if (take(/\\/y)) return oneOf(escaped());
    const letter = source[at++] ?? '';
    if (letter === '^' || letter === '$') return () => '';
    return letter === '.' ? oneOf(alphanumerics) : () => letter;
  }

  function escaped(): readonly string[] {
    const code = take(/x([0-9a-f]{2})/iy);
    if (code) return [String.fromCharCode(Number.parseInt(code[1] ?? '', 16))];
    const letter = source[at++] ?? '';
    return Object.hasOwn(classes, letter) ? (classes[letter] ?? []) : [letter];
  }

  function set(): SampleMaker {
    const not = take(/\^/y) !== null;
    const letters: string[] = [];
    for (let first = true; first || source[at] !== ']'; first = false) {
      if (at >= source.length) throw new Error('No end of a set');
      if (take(/\[:\w+:\]/y)) letters.push(...alphanumerics);
      else {
        const from = take(/\\/y) ? escaped() : [source[at++] ?? ''];
        const to = from.length === 1 && take(/-(?!\])/y) ? (take(/\\/y) ? escaped() : [source[at++] ?? '']) : undefined;
        letters.push(...(to ? range(from[0] ?? '', to[0] ?? '') : from));
      }
    }
    at++;
    return oneOf(not ? alphanumerics.filter((each) => !letters.includes(each)) : letters);
  }

  return alternatives();
}
