// The run_code tool: the model writes a program that reads and computes, instead of making many calls. It cannot change anything.
import {
  toolOutput,
  toJson,
  escapeInvisible,
  type Json,
  type ToolOutput,
  type Tool,
  type ToolContext,
} from '../../core/index.ts';
import { makeChildCall, programTools } from './child-call.ts';
import type { CodeResult } from './engine.ts';

const defaultSeconds = 10;
const maxSeconds = 60;
const maxCalls = 200;
/** Max characters of the input of one call, as JSON. */
const maxInputChars = 100_000;

/** The run_code tool. */
export const runCode: Tool = {
  name: 'run_code',
  description:
    'Run JavaScript in an isolated engine, without files or network. Read-only tools are async functions there: (await tools.read_file({ path: "a.txt" })).text, or .data. console.log prints, return gives the result.',
  input: {
    type: 'object',
    properties: {
      code: { type: 'string', minLength: 1, maxLength: 100_000, description: 'The body of an async function.' },
      timeout_s: { type: 'integer', minimum: 1, maximum: maxSeconds, description: `${defaultSeconds} unless given.` },
    },
    required: ['code'],
    additionalProperties: false,
  },
  effect: 'read',
  untrustedOutput: true,
  async execute(input, context) {
    const { code, timeout_s: seconds = defaultSeconds } = input as { code: string; timeout_s?: number };
    const calls: Json[] = [];
    const abortController = new AbortController();
    const inside = { ...context, signal: AbortSignal.any([context.signal, abortController.signal]) };
    const task = { code, functions: programTools(context).map(({ name }) => name), ms: seconds * 1000 };
    const { runInQuickJs } = await import('./engine.ts');
    try {
      const result = await runInQuickJs(task, context.signal, ({ name, input }) =>
        recordChildCall(name, input, calls, inside),
      );
      return codeOutput(result, calls);
    } finally {
      // Pending calls of an ended program are cancelled.
      abortController.abort();
    }
  },
};

function codeOutput({ printed, value = 'undefined', error = '' }: CodeResult, calls: readonly Json[]): ToolOutput {
  const parts = [printed, value === 'undefined' ? '' : `=> ${value}`, error];
  return toolOutput({
    text:
      escapeInvisible(parts.filter((part) => part !== '').join('\n')) || '(It printed nothing and returned nothing.)',
    failed: error !== '',
    data: { calls },
    spent: { calls: calls.length },
  });
}

async function recordChildCall(name: string, input: Json, calls: Json[], context: ToolContext): Promise<Json> {
  if (calls.length >= maxCalls) throw new Error(`A program may make at most ${maxCalls} calls.`);
  if (JSON.stringify(input).length > maxInputChars)
    throw new Error(`The input of a call may have at most ${maxInputChars} characters.`);
  calls.push(toJson({ tool: name, input }));
  return makeChildCall(name, input, calls.length, context);
}
