// Parses a literal of Python (dict, list, tuple, string, number, None, True, False), as many tools print their results.
import type { Json } from '../../core/index.ts';

const maxDepth = 100;
const escapes: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  '\\': '\\',
  "'": "'",
  '"': '"',
  b: '\b',
  f: '\f',
  v: '\v',
  a: '\u0007',
  0: '\0',
};

/** Returns the value of a literal; undefined if the text is none. */
export function parsePythonLiteral(text: string): Json | undefined {
  let at = 0;
  const fail = (): never => {
    throw new SyntaxError(`not a literal at ${at}`);
  };
  const skip = (): void => {
    while (at < text.length && ' \n\r\t'.includes(text[at] ?? '')) at++;
  };

  function readString(quote: string): string {
    let value = '';
    for (at++; at < text.length;) {
      const end = nextSpecial(quote);
      value += text.slice(at, end);
      at = end;
      if (text[at] === quote) {
        at++;
        return value;
      }
      value += readEscape();
    }
    return fail();
  }

  function nextSpecial(quote: string): number {
    let end = at;
    while (end < text.length && text[end] !== quote && text[end] !== '\\') end++;
    return end;
  }

  function readEscape(): string {
    const letter = text[at + 1] ?? fail();
    const digits = { x: 2, u: 4, U: 8 }[letter];
    if (digits !== undefined) {
      const code = Number.parseInt(text.slice(at + 2, at + 2 + digits), 16);
      at += 2 + digits;
      return code >= 0 && code <= 0x10ffff ? String.fromCodePoint(code) : fail();
    }
    at += 2;
    return letter === '\n' ? '' : (escapes[letter] ?? `\\${letter}`);
  }

  function readItems(close: string, depth: number): Json[] {
    const items: Json[] = [];
    for (at++; ;) {
      skip();
      if (text[at] === close) {
        at++;
        return items;
      }
      items.push(readValue(depth + 1));
      skip();
      if (text[at] === ',') at++;
      else if (text[at] !== close) fail();
    }
  }

  function readDict(depth: number): Json {
    const entries: [string, Json][] = [];
    for (at++; ;) {
      skip();
      if (text[at] === '}') {
        at++;
        return Object.fromEntries(entries);
      }
      const key = readValue(depth + 1);
      skip();
      if (text[at] !== ':') return fail();
      at++;
      entries.push([typeof key === 'string' ? key : JSON.stringify(key), readValue(depth + 1)]);
      skip();
      if (text[at] === ',') at++;
      else if (text[at] !== '}') return fail();
    }
  }

  function readValue(depth: number): Json {
    if (depth > maxDepth) return fail();
    skip();
    const start = text[at] ?? fail();
    if (start === '{') return readDict(depth);
    if (start === '[' || start === '(') return readItems(start === '[' ? ']' : ')', depth);
    if (start === "'" || start === '"') return readString(start);
    const word = /^[\w.+-]{1,40}/.exec(text.slice(at, at + 40))?.[0] ?? fail();
    // A call such as `datetime.datetime(2024, 5, 1)` is read as its arguments.
    at += word.length;
    if (text[at] === '(') return [word, readItems(')', depth)];
    if (word === 'None') return null;
    if (word === 'True' || word === 'False') return word === 'True';
    const number = Number(word);
    return Number.isFinite(number) ? number : fail();
  }

  try {
    const value = readValue(0);
    skip();
    return at === text.length ? value : undefined;
  } catch {
    return undefined;
  }
}
