// Defines tools: name, description, input schema and function. A definition that could never be called fails here.
import {
  FairleadError,
  USE_TOOL,
  isObject,
  isToolOutput,
  toolOutput,
  type Json,
  type JsonObject,
  type RunState,
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
  type SchemaParser,
  type SchemaLike,
} from './schema.ts';

/** Hints about a tool for users and programs. Models do not see them and no decision depends on them. An absent hint is unknown. */
export type ToolAnnotations = {
  /** A name for users. */
  readonly title?: string;
  /** It changes nothing. */
  readonly readOnly?: boolean;
  /** It changes values of the session cache. */
  readonly cacheMutating?: boolean;
  /** It may delete or overwrite something. */
  readonly destructive?: boolean;
  /** It reaches systems outside the program. */
  readonly openWorld?: boolean;
};

/** Where the type of the input is kept; no value has this member. */
declare const inputType: unique symbol;

/** A tool with its hints. `Input` is the type of its parsed input, which `toolGate` uses. */
export type DefinedTool<Input = unknown> = Tool & {
  readonly annotations?: ToolAnnotations;
  readonly [inputType]?: Input;
};

/** How the input of a defined tool is parsed: by the library of its schema, otherwise by its validator. */
const inputParsers = new WeakMap<Tool, SchemaParser>();

/** Parses an input as the tool parses it before it runs. */
export async function parseToolInput(
  tool: Tool,
  input: Json,
): Promise<{ readonly value: unknown } | { readonly error: string }> {
  const parsed = await inputParsers.get(tool)?.(input);
  const error = parsed ? parsed.issues && formatIssues(parsed.issues) : tool.validate?.(input);
  if (error !== undefined) return { error };
  return { value: parsed && 'value' in parsed ? parsed.value : input };
}

/** The definition of a tool. */
export type ToolDefinition<S extends SchemaLike> = {
  /** A letter, then up to 63 letters, digits, `_` and `-`. */
  readonly name: string;
  /** Tells the model what the tool does and when to use it. */
  readonly description: string;
  /** A JSON Schema of type object, or a Standard Schema (zod and others), which sets the type, defaults and transforms of the input. */
  readonly inputSchema: S;
  /** What a call changes; `external`, the least trusted, by default. */
  readonly effect?: Tool['effect'];
  /** Runs a call. A returned value becomes JSON text for the model; a thrown error becomes a failed result. */
  readonly execute: (input: SchemaOutput<S>, context: ToolContext) => unknown;
  /** Whether the user must approve a call before it runs: always, or if the function returns true for its input. */
  readonly needsApproval?:
    | boolean
    | ((input: SchemaOutput<S>, state: RunState) => boolean | string | Promise<boolean | string>);
  /** The schema of what `execute` returns; a value that does not match becomes a failed result. */
  readonly outputSchema?: SchemaLike;
  /** Finds out by `context.key` what became of a call that a crash interrupted: returns the result if it took effect, `false` if not, undefined if unknown. */
  readonly checkOutcome?: (input: SchemaOutput<S>, context: ToolContext) => unknown;
  /** A second call with the same key does no harm. */
  readonly idempotent?: boolean;
  /** The model sees the tool only after it loads it by name. */
  readonly deferred?: boolean;
  /** `false` keeps the tool out of every request, and out of the list of tools to load; a call that names it still runs, after the gates. */
  readonly visible?: boolean;
  /** Milliseconds after which a call is aborted and fails; no limit by default. */
  readonly timeoutMs?: number;
  /** The output contains text from files, programs or networks: it is put between tags that the text cannot close. */
  readonly untrustedOutput?: boolean;
  /** Hints for users and programs. */
  readonly annotations?: ToolAnnotations;
};

/**
 * The definition of a tool with the member names of older versions.
 * @deprecated Use `inputSchema`, `execute`, `checkOutcome`, `deferred` and the effect `external`.
 */
export type LegacyToolDefinition<S extends SchemaLike> = Omit<
  ToolDefinition<S>,
  'inputSchema' | 'execute' | 'checkOutcome' | 'deferred' | 'effect'
> & {
  readonly input: S;
  readonly run: ToolDefinition<S>['execute'];
  readonly confirm?: ToolDefinition<S>['checkOutcome'];
  readonly hidden?: boolean;
  readonly effect?: Tool['effect'] | 'outside';
};

/** The name of the tool that loads deferred tools. */
export const LOAD_TOOLS = 'load_tools';

const toolNamePattern = /^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/;

/** Defines a tool. Throws if it could never be called. */
export function tool<const S extends SchemaLike>(definition: ToolDefinition<S>): DefinedTool<SchemaOutput<S>> {
  assertToolDefinition(definition);
  const { name, description, inputSchema, execute, needsApproval, outputSchema, checkOutcome } = definition;
  const { effect = 'external', idempotent, deferred, visible, timeoutMs, untrustedOutput, annotations } = definition;
  const input = toSchemaOf('input', name, inputSchema);
  const basic = { name, description, input, effect, execute: execute as Tool['execute'] };
  const definitionError =
    toolDefinitionError({
      ...basic,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(deferred === undefined ? {} : { deferred }),
      ...(visible === undefined ? {} : { visible }),
    }) ?? schemaMismatchError(input, execute.length, effect, annotations);
  if (definitionError) throw badToolError(name, definitionError);
  const checkedExecute =
    outputSchema === undefined ? basic.execute : withOutputCheck(name, outputSchema, basic.execute);
  const defined: DefinedTool<SchemaOutput<S>> = {
    ...basic,
    ...withInputParsing(inputSchema, input, checkedExecute),
    ...(needsApproval ? { needsApproval: approvalCheck(inputSchema, needsApproval as ApprovalCheck) } : {}),
    ...(checkOutcome
      ? { checkOutcome: withParsedInput(inputSchema, checkOutcome as NonNullable<Tool['checkOutcome']>) }
      : {}),
    ...(idempotent === undefined ? {} : { idempotent }),
    ...(deferred === undefined ? {} : { deferred }),
    ...(visible === undefined ? {} : { visible }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(untrustedOutput === undefined ? {} : { untrustedOutput }),
    ...(annotations === undefined ? {} : { annotations }),
  };
  const parse = getSchemaParser(inputSchema);
  if (parse) inputParsers.set(defined, parse);
  return defined;
}

/** Defines a tool, also with the member names of older versions (`input`, `run`, `confirm`, `hidden`, effect `outside`). */
export function defineTool<const S extends SchemaLike>(definition: ToolDefinition<S>): DefinedTool<SchemaOutput<S>>;
/** @deprecated Use the member names of `tool`. */
export function defineTool<const S extends SchemaLike>(
  definition: LegacyToolDefinition<S>,
): DefinedTool<SchemaOutput<S>>;
export function defineTool(definition: ToolDefinition<SchemaLike> | LegacyToolDefinition<SchemaLike>): DefinedTool {
  assertToolDefinition(definition);
  return tool(upgradeDefinition(definition));
}

/** A definition with the member names of today. */
export function upgradeDefinition(definition: object): ToolDefinition<SchemaLike> {
  const { input, run, confirm, hidden, effect, ...rest } = definition as Partial<LegacyToolDefinition<SchemaLike>>;
  return {
    ...(input === undefined ? {} : { inputSchema: input }),
    ...(run === undefined ? {} : { execute: run }),
    ...(confirm === undefined ? {} : { checkOutcome: confirm }),
    ...(hidden === undefined ? {} : { deferred: hidden }),
    ...(effect === undefined ? {} : { effect: effect === 'outside' ? 'external' : effect }),
    ...rest,
  } as ToolDefinition<SchemaLike>;
}

/** Defines a tool from the form that model APIs print (`input_schema`) and the function that runs it. */
export function toolFromSpec<const S extends SchemaLike>(
  spec: Omit<ToolDefinition<S>, 'inputSchema'> & { readonly input_schema: S },
): DefinedTool<SchemaOutput<S>>;
/** @deprecated Use the member names of `tool`. */
export function toolFromSpec<const S extends SchemaLike>(
  spec: Omit<LegacyToolDefinition<S>, 'input'> & { readonly input_schema: S },
): DefinedTool<SchemaOutput<S>>;
export function toolFromSpec(spec: { readonly input_schema: SchemaLike }): DefinedTool {
  assertToolDefinition(spec);
  const { input_schema: inputSchema, ...rest } = spec;
  return tool(upgradeDefinition({ ...rest, inputSchema }));
}

/** Throws if the definition is not an object. */
export function assertToolDefinition(definition: unknown): void {
  if (!isObject(definition)) throw badToolError(undefined, `it has no definition but ${describeKind(definition)}`);
}

/** Why this tool could never be called; undefined if it can be. */
export function toolDefinitionError(tool: Tool): string | undefined {
  const { name, description, effect, timeoutMs } = tool;
  if (typeof name !== 'string' || !toolNamePattern.test(name))
    return 'its name must begin with a letter and have at most 64 letters, digits, _ and -, or some models refuse it';
  if (name === USE_TOOL || name === LOAD_TOOLS) return 'its name is reserved for loading deferred tools';
  if (typeof description !== 'string' || description.trim() === '')
    return 'it has no description to tell a model when to use it';
  if (typeof tool.execute !== 'function') return 'it has a schema but no execute function';
  if (!['read', 'write', 'external'].includes(effect))
    return `its effect must be read, write or external, not ${effect}`;
  if (tool.deferred && tool.visible === false)
    return 'it is both deferred and hidden: a deferred tool is listed for loading, a hidden one is not';
  if (timeoutMs !== undefined && !(timeoutMs > 0 && timeoutMs < 2 ** 31))
    return 'its timeoutMs must be a number of milliseconds above 0';
  return undefined;
}

/** The error for a tool that could never be called. */
export const badToolError = (name: unknown, why: string): FairleadError =>
  new FairleadError('tool/bad-definition', `The tool ${JSON.stringify(name)} cannot be used: ${why}.`, {
    blame: 'user',
  });

function toSchemaOf(part: 'input' | 'output', name: string, schema: unknown): JsonObject {
  try {
    return toJsonSchema(schema);
  } catch (cause) {
    if (!(cause instanceof FairleadError)) throw cause;
    const { code, message, hint } = cause;
    throw new FairleadError(code, `The ${part} of the tool ${JSON.stringify(name)}: ${message}`, {
      blame: 'user',
      ...(hint === undefined ? {} : { hint }),
      cause,
    });
  }
}

/** Where the schema that a model sees contradicts the function or the annotations. */
function schemaMismatchError(
  input: JsonObject,
  parameterCount: number,
  effect: Tool['effect'],
  annotations: ToolAnnotations = {},
): string | undefined {
  if (input['type'] !== 'object') return 'its input schema must be of type object, because models send only objects';
  if (parameterCount > 2)
    return `its execute function takes ${parameterCount} arguments, but it is called with two: the input and the context`;
  const properties = (input['properties'] ?? {}) as JsonObject;
  const missing = ((input['required'] ?? []) as readonly string[]).filter((key) => !Object.hasOwn(properties, key));
  if (missing.length)
    return `its input schema requires ${missing.join(', ')}, which it does not describe under properties`;
  if (effect === 'read' && (annotations.destructive || annotations.readOnly === false))
    return 'its effect is read, but its annotations say that it changes something';
  return undefined;
}

type ApprovalCheck = true | NonNullable<Tool['needsApproval']>;

/** Input that does not match the schema always needs approval; the call is then refused before it runs. */
function approvalCheck(schema: SchemaLike, needsApproval: ApprovalCheck): NonNullable<Tool['needsApproval']> {
  if (needsApproval === true) return () => true;
  const parse = getSchemaParser(schema);
  if (!parse) return needsApproval;
  return async (value, state) => {
    const result = await parse(value);
    return result.issues ? true : needsApproval(result.value as Json, state);
  };
}

/** Input that no longer matches the schema says nothing about the call that was made with it. */
function withParsedInput(
  schema: SchemaLike,
  checkOutcome: NonNullable<Tool['checkOutcome']>,
): NonNullable<Tool['checkOutcome']> {
  const parse = getSchemaParser(schema);
  if (!parse) return checkOutcome;
  return async (value, context) => {
    const result = await parse(value);
    return result.issues ? undefined : checkOutcome(result.value as Json, context);
  };
}

/** The check before a call, and the call. A schema library decides about its own schemas; its asynchronous checks run in the call. */
function withInputParsing(
  schema: SchemaLike,
  input: JsonObject,
  execute: Tool['execute'],
): Pick<Tool, 'validate' | 'execute'> {
  const parse = getSchemaParser(schema);
  if (!parse) return { validate: createValidator(input), execute };
  return {
    validate(value) {
      const result = parseSync(parse, value);
      return typeof result === 'object' ? result.error : undefined;
    },
    async execute(value, context) {
      const result = await parse(value);
      if (!result.issues) return execute(result.value as Json, context);
      return toolOutput({
        failed: true,
        text: `The arguments do not fit, so nothing was run: ${formatIssues(result.issues)}`,
      });
    },
  };
}

/** Checks what a call returns. A `ToolOutput` is passed on: its text and data are the tool's own. */
function withOutputCheck(name: string, schema: SchemaLike, execute: Tool['execute']): Tool['execute'] {
  const validate = createValidator(toSchemaOf('output', name, schema));
  const parse = getSchemaParser(schema);
  return async (input, context) => {
    const value: unknown = await execute(input, context);
    if (isToolOutput(value)) return value;
    const result = await parse?.(value);
    const outputError = result ? result.issues && formatIssues(result.issues) : validate(value as Json);
    if (outputError === undefined) return result && 'value' in result ? result.value : value;
    return toolOutput({
      failed: true,
      text: `The tool ran, but its result does not match its output schema: ${outputError}`,
    });
  };
}
