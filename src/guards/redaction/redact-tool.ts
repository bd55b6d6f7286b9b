// Redacts secrets from everything a tool returns, before it becomes an event: log, model, terminal and clients all see the redacted text.
import {
  FairleadError,
  isObject,
  isToolOutput,
  errorMessage,
  toolOutput,
  toJson,
  type Json,
  type Tool,
} from '../../core/index.ts';
import { hasRedactionPlaceholder, type Redactor } from './redactor.ts';

/** Tools whose results are text that the user typed, which stays as it is. */
const userInputTools: ReadonlySet<string> = new Set(['ask_user']);

/** Wraps a tool: results, progress and errors are redacted. A call that would write a placeholder over a secret is refused. */
export function withRedaction(tool: Tool, keeper: Redactor): Tool {
  if (userInputTools.has(tool.name)) return tool;
  return {
    ...tool,
    async execute(input, context) {
      if (tool.effect !== 'read' && someString(input, hasRedactionPlaceholder)) throw placeholderWriteError();
      const said = context.progress && createLineRedactor(context.progress, keeper);
      try {
        return redactResult(await tool.execute(input, said ? { ...context, progress: said.add } : context), keeper);
      } catch (error) {
        throw redactError(error, keeper);
      } finally {
        said?.end();
      }
    },
    ...(tool.checkOutcome
      ? {
          async checkOutcome(input, context) {
            try {
              return redactResult(await tool.checkOutcome?.(input, context), keeper);
            } catch (error) {
              throw redactError(error, keeper);
            }
          },
        }
      : {}),
  };
}

function redactResult(value: unknown, keeper: Redactor): unknown {
  if (typeof value === 'string') return keeper.redact(value);
  if (!isToolOutput(value)) return value === undefined ? undefined : redactJson(toJson(value), keeper);
  const { data, notes } = value;
  return toolOutput({
    ...value,
    text: keeper.redact(value.text),
    ...(data === undefined ? {} : { data: redactJson(toJson(data), keeper) }),
    ...(Array.isArray(notes) ? { notes: redactJson(toJson(notes), keeper) as unknown as typeof notes } : {}),
  });
}

/** Redacts every string in a value. */
export function redactJson(value: Json, keeper: Redactor): Json {
  if (typeof value === 'string') return keeper.redact(value);
  if (Array.isArray(value)) return value.map((each: Json) => redactJson(each, keeper));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, redactJson(each, keeper)]));
}

function someString(value: unknown, fits: (text: string) => boolean): boolean {
  if (typeof value === 'string') return fits(value);
  if (Array.isArray(value)) return value.some((each) => someString(each, fits));
  return isObject(value) && Object.values(value).some((each) => someString(each, fits));
}

/** Redacts the message of an error. Returns the same error if it contains no secret. */
function redactError(error: unknown, keeper: Redactor): unknown {
  const message = errorMessage(error);
  const clean = keeper.redact(message);
  const hint = error instanceof FairleadError && error.hint !== undefined ? keeper.redact(error.hint) : undefined;
  if (clean === message && (!(error instanceof FairleadError) || hint === error.hint)) return error;
  if (!(error instanceof FairleadError)) return new Error(clean);
  const { code, blame, retry, afterMs } = error;
  return new FairleadError(code, clean, {
    blame,
    retry,
    ...(afterMs === undefined ? {} : { afterMs }),
    ...(hint === undefined ? {} : { hint }),
  });
}

const placeholderWriteError = (): FairleadError =>
  new FairleadError(
    'secrets/stand-in',
    'Nothing was done: the call contains [redacted: …], a placeholder for a secret that you cannot see. It would overwrite or miss that secret.',
    { blame: 'model', hint: 'Change the parts around it, or ask the user to do it.' },
  );

const maxHeldChars = 8192;

/** Emits complete lines only, because a secret may be split across two chunks. */
function createLineRedactor(
  pass: (text: string) => void,
  keeper: Redactor,
): { readonly add: (text: string) => void; readonly end: () => void } {
  let held = '';
  const release = (until: number): void => {
    if (until > 0) pass(keeper.redact(held.slice(0, until)));
    held = held.slice(until);
  };
  return {
    add(text) {
      held += text;
      // A private key of several lines is held until its end arrives.
      const open = held.lastIndexOf('-----BEGIN');
      const isOpen = open >= 0 && !held.includes('-----END', open);
      const whole = isOpen ? open : Math.max(held.lastIndexOf('\n'), held.lastIndexOf('\r')) + 1;
      release(held.length - whole > maxHeldChars ? held.length : whole);
    },
    end: () => release(held.length),
  };
}
