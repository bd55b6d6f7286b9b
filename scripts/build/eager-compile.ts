// Has the functions that a short run calls compiled together with their file: only those go into Node's compile cache, and a start compiles every other function anew.
import { readFileSync, writeFileSync } from 'node:fs';
import { parseSync, Visitor } from 'rolldown/utils';

/** Where a function is in its program. */
export type SourceRange = { readonly start: number; readonly end: number };

/** A function in the syntax tree. */
type FunctionNode = SourceRange & { readonly body: SourceRange | null };

/**
 * The same program with these functions in parentheses, which V8 compiles at once. Declarations become variables at the
 * beginning, where they are known as soon as before, unless programs import each other in a circle. Methods stay as they are.
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
  // Where one function ends and the next begins, the end comes first.
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

/** Whether a function is one of those at these places; V8 and the parser may disagree whether `async` is part of it. */
function createRangeMatcher(places: readonly SourceRange[]): (node: FunctionNode) => boolean {
  const starts = Map.groupBy(places, ({ end }) => end);
  return ({ start, end, body }) =>
    starts.get(end)?.some((place) => place.start >= start && place.start < (body?.start ?? end)) ?? false;
}

/** Has these functions compiled ahead, by the file they are in. */
export function applyEagerCompile(called: ReadonlyMap<string, readonly SourceRange[]>): void {
  for (const [file, places] of called) writeFileSync(file, wrapEagerFunctions(readFileSync(file, 'utf8'), places));
}
