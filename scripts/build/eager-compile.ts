// Marks the functions that a short run calls for eager compilation: only those are stored in the compile cache of Node.
import { readFileSync, writeFileSync } from 'node:fs';
import { parseSync, Visitor } from 'rolldown/utils';

/** The range of a function in its file. */
export type SourceRange = { readonly start: number; readonly end: number };

/** A function in the syntax tree. */
type FunctionNode = SourceRange & { readonly body: SourceRange | null };

/**
 * Returns the same program with these functions in parentheses, which V8 compiles eagerly. Declarations become variables at the
 * start of the file, where they are defined as early as before, except in import cycles. Methods are unchanged.
 */
export function wrapEagerFunctions(program: string, called: readonly SourceRange[]): string {
  const { program: tree } = parseSync('program.js', program);
  const isCalled = createRangeMatcher(called);
  const marks: { readonly at: number; readonly mark: '(' | ')' }[] = [];
  const wrap = ({ start, end }: SourceRange): void => void marks.push({ at: start, mark: '(' }, { at: end, mark: ')' });
  new Visitor({
    ArrowFunctionExpression: (node) => {
      if (isCalled(node)) wrap(node);
    },
    FunctionExpression: (node) => {
      const isMethod = program[node.start] === '(';
      if (!isMethod && isCalled(node)) wrap(node);
    },
  }).visit(tree);
  // At the same position the end of a function sorts before the start of the next.
  marks.sort((one, other) => one.at - other.at || (one.mark === other.mark ? 0 : one.mark === ')' ? -1 : 1));

  const marked = (from: number, to: number): string => {
    let [text, done] = ['', from];
    for (const { at, mark } of marks) {
      if (mark === '(' ? at < from || at >= to : at <= from || at > to) continue;
      text += program.slice(done, at) + mark;
      done = at;
    }
    return text + program.slice(done, to);
  };

  const begin = tree.body.find(({ type }) => type !== 'ImportDeclaration')?.start ?? program.length;
  let [variables, rest, done] = ['', '', begin];
  for (const node of tree.body) {
    if (node.type !== 'FunctionDeclaration' || node.id === null || !isCalled(node)) continue;
    const { id, start, end } = node;
    variables += `var ${id.name} = (${program.slice(start, id.start)}${marked(id.end, end)});\n`;
    rest += marked(done, start);
    done = end;
  }
  return program.slice(0, begin) + variables + rest + marked(done, program.length);
}

/** Whether a function is at one of these positions; V8 and the parser may disagree whether `async` is part of it. */
function createRangeMatcher(places: readonly SourceRange[]): (node: FunctionNode) => boolean {
  const starts = Map.groupBy(places, ({ end }) => end);
  return ({ start, end, body }) =>
    starts.get(end)?.some((place) => place.start >= start && place.start < (body?.start ?? end)) ?? false;
}

/** Marks these functions, by file, for eager compilation. */
export function applyEagerCompile(called: ReadonlyMap<string, readonly SourceRange[]>): void {
  for (const [file, places] of called) writeFileSync(file, wrapEagerFunctions(readFileSync(file, 'utf8'), places));
}
