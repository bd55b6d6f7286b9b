// Defines a tool: what a model may ask for, with input that is checked before anything runs. A definition that cannot work fails here, at once.
import {
  FairleadError,
  USE_TOOL,
  isObject,
  toolOutput,
  type Json,
  type JsonObject,
  type Tool,
  type ToolContext,
} from '../core/index.ts';
import {
  parseSync,
  createValidator,
  formatIssues,
  toJsonSchema,
  describeKind,
  getSchemaParser,
  type SchemaOutput,
  type SchemaLike,
} from './schema.ts';

/** Hints about a tool for people and programs; models never see them and nothing is decided by them. What is absent is unknown. */
export type ToolAnnotations = {
  readonly title?: string;
  readonly readOnly?: boolean;
  readonly cacheMutating?: boolean;
  readonly destructive?: boolean;
  readonly openWorld?: boolean;
};

/** A tool with its hints. */
export type DefinedTool = Tool & { readonly annotations?: ToolAnnotations };

/** What a tool is made from. */
export type ToolDefinition<S extends SchemaLike> = {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema of type object, or a Standard Schema, which also gives `run` its input type, defaults and transforms. */
  readonly input: S;
  /** `external`, the least trusted, unless given. */
  readonly effect?: Tool['effect'];
  readonly run: (input: SchemaOutput<S>, context: ToolContext) => unknown;
  /** What came of an attempt that a crash cut off, found out by its key (`context.key`): what `run` would have given, `false` where it did not happen, nothing where that cannot be told. */
  readonly confirm?: (input: SchemaOutput<S>, context: ToolContext) => unknown;
  readonly idempotent?: boolean;
  readonly hidden?: boolean;
  readonly timeoutMs?: number;
  readonly annotations?: ToolAnnotations;
};

/** The tool through which hidden tools are loaded. */
export const LOAD_TOOLS = 'load_tools';

const toolNamePattern = /^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/;

/** Defines a tool. */
export function defineTool<const S extends SchemaLike>(definition: ToolDefinition<S>): DefinedTool {
  assertToolDefinition(definition);
  const { name, description, run, confirm, effect = 'external' } = definition;
  const { idempotent, hidden, timeoutMs, annotations } = definition;
  const input = toInputSchema(name, definition.input);
  const tool = { name, description, input, effect, execute: run as Tool['execute'] };
  const wrong =
    toolDefinitionError({ ...tool, ...(timeoutMs === undefined ? {} : { timeoutMs }) }) ??
    schemaMismatchError(input, run.length, effect, annotations);
  if (wrong) throw badToolError(name, wrong);
  return {
    ...tool,
    ...withInputParsing(definition.input, input, tool.execute),
    ...(confirm
      ? { checkOutcome: withParsedInput(definition.input, confirm as NonNullable<Tool['checkOutcome']>) }
      : {}),
    ...(idempotent === undefined ? {} : { idempotent }),
    ...(hidden === undefined ? {} : { deferred: hidden }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(annotations === undefined ? {} : { annotations }),
  };
}

/** A tool in the shape that model interfaces print (`input_schema`), with the function that does it. */
export function toolFromSpec<const S extends SchemaLike>(
  spec: Omit<ToolDefinition<S>, 'input'> & { readonly input_schema: S },
): DefinedTool {
  assertToolDefinition(spec);
  const { input_schema: input, ...rest } = spec;
  return defineTool<S>({ ...rest, input });
}

/** Throws where there is nothing to make a tool from. */
export function assertToolDefinition(definition: unknown): void {
  if (!isObject(definition)) throw badToolError(undefined, `it has no definition but ${describeKind(definition)}`);
}

/** Why this tool could never be called, or nothing. */
export function toolDefinitionError(tool: Tool): string | undefined {
  const { name, description, effect, timeoutMs } = tool;
  if (typeof name !== 'string' || !toolNamePattern.test(name))
    return 'its name must begin with a letter and hold at most 64 letters, digits, _ and -, or some models refuse it';
  if (name === USE_TOOL || name === LOAD_TOOLS) return 'its name is kept for loading hidden tools';
  if (typeof description !== 'string' || description.trim() === '')
    return 'it has no description to tell a model when to use it';
  if (typeof tool.execute !== 'function') return 'it has a schema but nothing that runs it: give it a run function';
  if (!['read', 'write', 'external'].includes(effect))
    return `its effect must be read, write or outside, not ${effect}`;
  if (timeoutMs !== undefined && !(timeoutMs > 0 && timeoutMs < 2 ** 31))
    return 'its timeoutMs must be a number of milliseconds above 0';
  return undefined;
}

/** The error for a tool that could never be called. */
export const badToolError = (name: unknown, wrong: string): FairleadError =>
  new FairleadError('tool/bad-definition', `The tool ${JSON.stringify(name)} cannot be used: ${wrong}.`, {
    blame: 'user',
  });

function toInputSchema(name: string, given: unknown): JsonObject {
  try {
    return toJsonSchema(given);
  } catch (cause) {
    if (!(cause instanceof FairleadError)) throw cause;
    const { code, message, hint } = cause;
    throw new FairleadError(code, `The input of the tool ${JSON.stringify(name)}: ${message}`, {
      blame: 'user',
      ...(hint === undefined ? {} : { hint }),
      cause,
    });
  }
}

/** Where the schema that a model sees and the function behind it cannot both be right. */
function schemaMismatchError(
  input: JsonObject,
  args: number,
  effect: Tool['effect'],
  annotations: ToolAnnotations = {},
): string | undefined {
  if (input['type'] !== 'object') return 'its input schema must be of type object, which is all that a model can send';
  if (args > 2)
    return `its run function takes ${args} arguments, but it is called with two: the whole input, and the context`;
  const properties = (input['properties'] ?? {}) as JsonObject;
  const missing = ((input['required'] ?? []) as readonly string[]).filter((key) => !Object.hasOwn(properties, key));
  if (missing.length)
    return `its input schema requires ${missing.join(', ')}, which it does not describe under properties`;
  if (effect === 'read' && (annotations.destructive || annotations.readOnly === false))
    return 'its effect is read, but its annotations say that it changes something';
  return undefined;
}

/** Input that no longer fits tells nothing about an attempt that was made with it. */
function withParsedInput(
  given: SchemaLike,
  confirm: NonNullable<Tool['checkOutcome']>,
): NonNullable<Tool['checkOutcome']> {
  const parse = getSchemaParser(given);
  if (!parse) return confirm;
  return async (value, context) => {
    const result = await parse(value);
    return result.issues ? undefined : confirm(result.value as Json, context);
  };
}

/** The check before a call and the run itself. A schema library has the last word on its own schemas; what it has to wait for is checked in the run. */
function withInputParsing(
  given: SchemaLike,
  input: JsonObject,
  run: Tool['execute'],
): Pick<Tool, 'validate' | 'execute'> {
  const parse = getSchemaParser(given);
  if (!parse) return { validate: createValidator(input), execute: run };
  return {
    validate(value) {
      const said = parseSync(parse, value);
      return typeof said === 'object' ? said.wrong : undefined;
    },
    async execute(value, context) {
      const result = await parse(value);
      if (!result.issues) return run(result.value as Json, context);
      return toolOutput({
        failed: true,
        text: `The arguments do not fit, so nothing was run: ${formatIssues(result.issues)}`,
      });
    },
  };
}
