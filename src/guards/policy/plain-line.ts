// Reads a command line of the plain subset of shell syntax in one pass: literal words, `;`, `&&`, `||`, `|`, line breaks and redirections to literal files.

/** A word of a plain command line. */
export type PlainWord = {
  readonly text: string;
  /** True if it contains `*` or `?`, which the shell replaces with file names. */
  readonly isPattern: boolean;
};

/** A redirection of a plain command line. The target is a file, or a file descriptor for the operator `>&`. */
export type PlainRedirection = {
  readonly descriptor: number | undefined;
  readonly operator: '<' | '>' | '>>' | '>&';
  readonly target: string;
};

/** A simple command without assignments and expansions. */
export type PlainCommand = {
  readonly words: readonly PlainWord[];
  readonly redirections: readonly PlainRedirection[];
};

/** A plain command line: its commands, and the operators between them. A line break counts as `;`. */
export type PlainLine = {
  readonly commands: readonly PlainCommand[];
  readonly operators: readonly string[];
};

/** A plain command line, or what is not plain in it. */
export type PlainReading = { readonly line: PlainLine } | { readonly notPlain: string };

/** Max number of commands in a line that an allow rule covers. */
export const maxPlainCommands = 64;

/** Max number of words in a line that an allow rule covers. */
export const maxPlainWords = 1000;

/** Max length of a line that an allow rule covers. */
export const maxPlainLength = 20_000;

const characterSet = (text: string): ReadonlySet<string> => new Set(text);
const alphanumerics = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** Characters that no shell treats specially anywhere in a word. */
const wordCharacters = characterSet(`${alphanumerics}_./:,+@%=-`);
const alphanumericSet = characterSet(alphanumerics);
const programStart = characterSet(`${alphanumerics}_./:`);
const inDoubleQuotesExcluded = characterSet('$`\\!');

/** Words that a shell reads as syntax if they are the first word of a command. */
const reservedWords: ReadonlySet<string> = new Set(
  'if then else elif fi case esac for foreach select while until do done in end function time coproc repeat nocorrect noglob'.split(
    ' ',
  ),
);

const isControl = (character: string): boolean => {
  const code = character.codePointAt(0) ?? 0;
  return (code < 32 && character !== '\n' && character !== '\t') || (code >= 127 && code < 160);
};

class NotPlainError extends Error {}

/** Reads a command line. Each character is read once, so the time is linear in the length. */
export function readPlainLine(source: string): PlainReading {
  if (source.length > maxPlainLength) return { notPlain: `it is longer than ${maxPlainLength} characters` };
  try {
    return { line: new PlainLexer(source).readLine() };
  } catch (error) {
    if (error instanceof NotPlainError) return { notPlain: error.message };
    throw error;
  }
}

/** Owns the position in one command line. */
class PlainLexer {
  readonly #source: string;
  #at = 0;
  #wordCount = 0;

  constructor(source: string) {
    this.#source = source;
  }

  readLine(): PlainLine {
    const commands: PlainCommand[] = [];
    const operators: string[] = [];
    this.#skipBlanks(true);
    while (this.#at < this.#source.length) {
      commands.push(this.#readCommand());
      if (commands.length > maxPlainCommands) throw new NotPlainError(`it has more than ${maxPlainCommands} commands`);
      const operator = this.#readOperator();
      this.#skipBlanks(true);
      if (operator === undefined) break;
      const isEnd = this.#at >= this.#source.length;
      if (isEnd && operator !== ';') throw new NotPlainError(`it ends with ${operator}`);
      if (!isEnd) operators.push(operator);
    }
    if (commands.length === 0) throw new NotPlainError('it contains no command');
    return { commands, operators };
  }

  /** Reads the operator after a command; undefined at the end. */
  #readOperator(): string | undefined {
    if (this.#at >= this.#source.length) return undefined;
    const first = this.#source[this.#at];
    const isDouble = this.#source[this.#at + 1] === first;
    if (first === '\n' || (first === ';' && !isDouble)) {
      this.#at += 1;
      return ';';
    }
    if ((first === '&' || first === '|') && isDouble) {
      this.#at += 2;
      return first + first;
    }
    if (first === '|' && this.#source[this.#at + 1] !== '&') {
      this.#at += 1;
      return '|';
    }
    throw this.#unexpected();
  }

  #readCommand(): PlainCommand {
    const words: PlainWord[] = [];
    const redirections: PlainRedirection[] = [];
    for (;;) {
      this.#skipBlanks(false);
      const character = this.#source[this.#at];
      if (character === undefined || ';&|\n'.includes(character)) break;
      if (character === '<' || character === '>') redirections.push(this.#readRedirection(undefined));
      else {
        const start = this.#at;
        const word = this.#readWord(words.length === 0);
        const raw = this.#source.slice(start, this.#at);
        const next = this.#source[this.#at];
        if ((next === '<' || next === '>') && /^\d+$/.test(raw)) {
          // Shells differ in how many digits a file descriptor may have.
          if (raw.length > 1) throw new NotPlainError(`${raw}${next} is not a plain redirection`);
          redirections.push(this.#readRedirection(Number(raw)));
        } else words.push(word);
      }
    }
    if (words.length === 0) throw new NotPlainError('a command has no name');
    return { words, redirections };
  }

  #readRedirection(descriptor: number | undefined): PlainRedirection {
    const first = this.#source[this.#at] === '<' ? '<' : '>';
    this.#at += 1;
    const next = this.#source[this.#at];
    if (first === '>' && next === '&') {
      this.#at += 1;
      const digit = this.#source[this.#at] ?? '';
      const after = this.#source[this.#at + 1];
      if (!(digit === '1' || digit === '2') || (after !== undefined && !' \t\n;&|'.includes(after)))
        throw new NotPlainError('a redirection to a file descriptor is not plain');
      this.#at += 1;
      return { descriptor, operator: '>&', target: digit };
    }
    const operator = first === '>' && next === '>' ? '>>' : first;
    if (operator === '>>') this.#at += 1;
    this.#skipBlanks(false);
    const { text, isPattern } = this.#readWord(false);
    if (isPattern || text === '' || text.startsWith('~'))
      throw new NotPlainError('the file of a redirection is not literal');
    // Bash opens network connections by these names.
    if (/^\/+dev\/+(tcp|udp)\//.test(text)) throw new NotPlainError('a redirection opens a network connection');
    return { descriptor, operator, target: text };
  }

  #readWord(isProgram: boolean): PlainWord {
    this.#wordCount += 1;
    if (this.#wordCount > maxPlainWords) throw new NotPlainError(`it has more than ${maxPlainWords} words`);
    const start = this.#at;
    const parts: string[] = [];
    let isQuoted = false;
    let isPattern = false;
    for (;;) {
      const character = this.#source[this.#at];
      if (character === undefined || ' \t\n;&|<>'.includes(character)) break;
      if (character === "'" || character === '"') {
        isQuoted = true;
        parts.push(this.#readQuotes(character));
        continue;
      }
      if (character === '~') this.#assertPlainTilde(start);
      else if (character === '*' || character === '?') {
        // A name that replaces the pattern could be an option, or be split off by a quote.
        if (this.#at === start || isQuoted || '-~='.includes(this.#source[start] ?? '')) throw this.#unexpected();
        isPattern = true;
      } else if (!wordCharacters.has(character) || (character === '=' && this.#at === start && !this.#isLoneEquals()))
        throw this.#unexpected();
      parts.push(character);
      this.#at += 1;
    }
    const text = parts.join('');
    if (this.#at === start) throw this.#unexpected();
    if (isPattern && isQuoted) throw new NotPlainError('a pattern contains quotes');
    if (isProgram) assertPlainProgram(text, isQuoted || isPattern);
    return { text, isPattern };
  }

  /** A single `=`, as `test` uses it; some shells replace `=name` by the path of a program. */
  #isLoneEquals(): boolean {
    return ' \t'.includes(this.#source[this.#at + 1] ?? '-');
  }

  /** A tilde is plain at the start of a word before `/` or the end, and after a letter or digit. */
  #assertPlainTilde(start: number): void {
    const next = this.#source[this.#at + 1];
    const isHome = this.#at === start && (next === undefined || ' \t\n;&|/'.includes(next));
    const isLiteral = this.#at > start && alphanumericSet.has(this.#source[this.#at - 1] ?? '');
    if (!isHome && !isLiteral) throw this.#unexpected();
  }

  #readQuotes(quote: string): string {
    const start = this.#at + 1;
    for (let at = start; at < this.#source.length; at += 1) {
      const character = this.#source[at] ?? '';
      if (character === quote) {
        this.#at = at + 1;
        return this.#source.slice(start, at);
      }
      if (isControl(character) || (quote === '"' && inDoubleQuotesExcluded.has(character)))
        throw new NotPlainError(`it contains ${JSON.stringify(character)} in quotes`);
    }
    throw new NotPlainError('a quote is not closed');
  }

  #skipBlanks(withLineBreaks: boolean): void {
    for (;;) {
      const character = this.#source[this.#at];
      if (character !== ' ' && character !== '\t' && !(withLineBreaks && character === '\n')) return;
      this.#at += 1;
    }
  }

  #unexpected(): NotPlainError {
    return new NotPlainError(`it contains ${JSON.stringify(this.#source[this.#at] ?? 'the end')}`);
  }
}

function assertPlainProgram(text: string, isQuotedOrPattern: boolean): void {
  if (isQuotedOrPattern) throw new NotPlainError('the name of a program is quoted or a pattern');
  if (text.includes('=')) throw new NotPlainError('it assigns a variable');
  if (!programStart.has(text[0] ?? '')) throw new NotPlainError(`it contains ${JSON.stringify(text)} as a command`);
  if (reservedWords.has(text)) throw new NotPlainError(`it contains the shell keyword ${text}`);
}
