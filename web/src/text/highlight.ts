// Splits code into tokens for syntax colours: comments, strings, numbers, keywords, names of functions and keys. One small lexer for all languages.

/** The kind of a token; `text` has no colour. */
export type TokenKind = 'text' | 'comment' | 'string' | 'number' | 'keyword' | 'name' | 'key';

/** A piece of code; the pieces joined are the code. */
export type CodeToken = { readonly kind: TokenKind; readonly text: string };

type Language = {
  readonly keywords: ReadonlySet<string>;
  /** Line comments: `//`, `#` or `--`. */
  readonly line?: RegExp;
  /** Whether it has block comments of the C kind. */
  readonly hasBlocks?: boolean;
  /** The characters that quote a string; those in `multiline` may contain line breaks. */
  readonly quotes: string;
  readonly multiline?: string;
  readonly ignoresCase?: boolean;
};

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

const cLike = { line: /\/\/[^\n]*/y, hasBlocks: true, quotes: `"'` } as const;
const hashed = { line: /#[^\n]*/y, quotes: `"'` } as const;

const script: Language = {
  ...cLike,
  quotes: `"'\``,
  multiline: '`',
  keywords: words(
    'abstract as async await break case catch class const continue default delete do else enum export extends false finally for from function get if implements import in instanceof interface is keyof let namespace new null of private protected public readonly return satisfies set static super switch this throw true try type typeof undefined var void while with yield string number boolean unknown never',
  ),
};

const shell: Language = {
  ...hashed,
  line: /(?<![^\s;&|(])#[^\n]*/y,
  quotes: `"'`,
  multiline: `"'`,
  keywords: words(
    'if then else elif fi for in do done while until case esac function return exit export local readonly set unset echo cd sudo source',
  ),
};

const languages: Readonly<Record<string, Language>> = {
  script,
  shell,
  python: {
    ...hashed,
    keywords: words(
      'and as assert async await break class continue def del elif else except False finally for from global if import in is lambda None nonlocal not or pass raise return True try while with yield match case self',
    ),
  },
  rust: {
    ...cLike,
    quotes: '"',
    multiline: '"',
    keywords: words(
      'as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while',
    ),
  },
  go: {
    ...cLike,
    quotes: `"'\``,
    multiline: '`',
    keywords: words(
      'break case chan const continue default defer else fallthrough for func go goto if import interface map nil package range return select struct switch true false type var error string int bool',
    ),
  },
  c: {
    ...cLike,
    keywords: words(
      'auto bool break case catch char class const constexpr continue default delete do double else enum explicit extends extern false final finally float for friend goto if implements import inline int interface long namespace new null nullptr operator override package private protected public return short signed sizeof static struct super switch template this throw throws true try typedef typename union unsigned using virtual void volatile while',
    ),
  },
  sql: {
    line: /--[^\n]*/y,
    hasBlocks: true,
    quotes: `'"`,
    ignoresCase: true,
    keywords: words(
      'select from where and or not in is null as join left right inner outer on group by order having limit offset insert into values update set delete create table index view drop alter add primary key references unique default with case when then else end union all distinct exists between like asc desc',
    ),
  },
  json: { quotes: '"', line: /\/\/[^\n]*/y, hasBlocks: true, keywords: words('true false null') },
  yaml: { ...hashed, line: /(?<!\S)#[^\n]*/y, keywords: words('true false null yes no on off') },
  css: {
    quotes: `"'`,
    hasBlocks: true,
    keywords: words('import media supports keyframes layer container important from to not and'),
  },
};

const aliases: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({
    script: 'ts tsx mts cts js jsx mjs cjs typescript javascript',
    shell: 'sh bash zsh shell console dockerfile makefile',
    python: 'py python rb ruby toml ini conf',
    rust: 'rs rust',
    go: 'go golang',
    c: 'c h cc cpp hpp c++ java kt kotlin cs csharp swift php scala',
    sql: 'sql',
    json: 'json jsonc json5 jsonl',
    yaml: 'yml yaml',
    css: 'css scss less',
  }).flatMap(([name, list]) => list.split(' ').map((alias) => [alias, name])),
);

/** Longer code has no colours: it must not freeze the page. */
const maxCodeLength = 60_000;

/** Returns the language of a file by the end of its name; empty if it is unknown. */
export function languageOfPath(path: string): string {
  const name = path.split(/[\\/]/).at(-1)?.toLowerCase() ?? '';
  const end = name.includes('.') ? (name.split('.').at(-1) ?? '') : name;
  return Object.hasOwn(aliases, end) ? end : '';
}

const blockComment = /\/\*[\s\S]*?(?:\*\/|$)/y;
const numberPattern = /0[xXbBoO][\da-fA-F_]+|\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const wordPattern = /[\p{L}_$][\p{L}\p{N}_$]*/uy;
const plainPattern = /\s+|[^\s\p{L}\p{N}_$"'`/#-]+|./suy;

const matchAt = (pattern: RegExp, text: string, at: number): string | undefined => {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
};

/** Splits code of a language, named as in a code fence or by a file extension. An unknown language is one token. */
export function tokenize(code: string, language: string): readonly CodeToken[] {
  const name = aliases[language.toLowerCase()];
  const rules = name === undefined ? undefined : languages[name];
  if (!rules || code.length > maxCodeLength) return [{ kind: 'text', text: code }];
  const tokens: CodeToken[] = [];
  const push = (kind: TokenKind, text: string): void => {
    const last = tokens.at(-1);
    if (last?.kind === kind) tokens[tokens.length - 1] = { kind, text: last.text + text };
    else tokens.push({ kind, text });
  };
  for (let at = 0; at < code.length;) {
    const { kind, text } = nextToken(code, at, rules);
    push(kind, text);
    at += text.length;
  }
  return tokens;
}

function nextToken(code: string, at: number, rules: Language): CodeToken {
  const comment =
    (rules.line && matchAt(rules.line, code, at)) ?? (rules.hasBlocks ? matchAt(blockComment, code, at) : undefined);
  if (comment) return { kind: 'comment', text: comment };
  const letter = code[at] ?? '';
  if (rules.quotes.includes(letter)) return readString(code, at, rules);
  const number = matchAt(numberPattern, code, at);
  if (number !== undefined) return { kind: 'number', text: number };
  const word = matchAt(wordPattern, code, at);
  if (word !== undefined) return { kind: kindOfWord(code, at + word.length, word, rules), text: word };
  return { kind: 'text', text: matchAt(plainPattern, code, at) ?? letter };
}

function kindOfWord(code: string, end: number, word: string, rules: Language): TokenKind {
  if (rules.keywords.has(rules.ignoresCase ? word.toLowerCase() : word)) return 'keyword';
  if (rules === languages['yaml'] && code[end] === ':') return 'key';
  return code[end] === '(' ? 'name' : 'text';
}

function readString(code: string, at: number, rules: Language): CodeToken {
  const quote = code[at] ?? '';
  const isMultiline = rules.multiline?.includes(quote) ?? false;
  const ends = isMultiline ? quote : `${quote}\n`;
  let end = at + 1;
  while (end < code.length && !ends.includes(code[end] ?? '')) end += code[end] === '\\' ? 2 : 1;
  const text = code.slice(at, Math.min(code.length, code[end] === quote ? end + 1 : end));
  const isKey = rules === languages['json'] && /^\s*:/.test(code.slice(at + text.length, at + text.length + 20));
  return { kind: isKey ? 'key' : 'string', text };
}

/** Splits tokens into lines, so that each line of a diff or a listing can be a row. */
export function splitTokenLines(tokens: readonly CodeToken[]): readonly (readonly CodeToken[])[] {
  const lines: CodeToken[][] = [[]];
  for (const { kind, text } of tokens)
    for (const [i, part] of text.split('\n').entries()) {
      if (i > 0) lines.push([]);
      if (part !== '') lines.at(-1)?.push({ kind, text: part });
    }
  return lines;
}
