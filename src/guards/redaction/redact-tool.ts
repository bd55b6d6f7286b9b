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
export function withRedaction(tool: Tool, redactor: Redactor): Tool {
  if (userInputTools.has(tool.name)) return tool;
  return {
    ...tool,
    async execute(input, context) {
      if (tool.effect !== 'read' && someString(input, hasRedactionPlaceholder)) throw placeholderWriteError();
      const lineRedactor = context.progress && createLineRedactor(context.progress, redactor);
      try {
        return redactResult(
          await tool.execute(input, lineRedactor ? { ...context, progress: lineRedactor.add } : context),
          redactor,
        );
      } catch (error) {
        throw redactError(error, redactor);
      } finally {
        lineRedactor?.end();
      }
    },
    ...(tool.checkOutcome
      ? {
          async checkOutcome(input, context) {
            try {
              return redactResult(await tool.checkOutcome?.(input, context), redactor);
            } catch (error) {
              throw redactError(error, redactor);
            }
          },
        }
      : {}),
  };
}

function redactResult(value: unknown, redactor: Redactor): unknown {
  if (typeof value === 'string') return redactor.redact(value);
  if (!isToolOutput(value)) return value === undefined ? undefined : redactJson(toJson(value), redactor);
  const { data, notes, withheld } = value;
  return toolOutput({
    ...value,
    text: redactor.redact(value.text),
    ...(withheld === undefined ? {} : { withheld: redactor.redact(withheld) }),
    ...(data === undefined ? {} : { data: redactJson(toJson(data), redactor) }),
    ...(Array.isArray(notes) ? { notes: redactJson(toJson(notes), redactor) as unknown as typeof notes } : {}),
  });
}

/** Redacts every string in a value, and the names of its fields. */
export function redactJson(value: Json, redactor: Redactor): Json {
  if (typeof value === 'string') return redactor.redact(value);
  if (Array.isArray(value)) return value.map((each: Json) => redactJson(each, redactor));
  if (!isObject(value)) return value;
  const names = new Set<string>();
  const entries = Object.entries(value).map(([key, each]): [string, Json] => {
    const name = uniqueName(redactor.redact(key), names);
    names.add(name);
    return [name, redactJson(each, redactor)];
  });
  return Object.fromEntries(entries);
}

/** Two secrets may have the same placeholder: no field replaces another. */
const uniqueName = (name: string, taken: ReadonlySet<string>): string =>
  taken.has(name) ? `${name} ${taken.size + 1}` : name;

function someString(value: unknown, matches: (text: string) => boolean): boolean {
  if (typeof value === 'string') return matches(value);
  if (Array.isArray(value)) return value.some((each) => someString(each, matches));
  return isObject(value) && Object.entries(value).some(([key, each]) => matches(key) || someString(each, matches));
}

/** Redacts the message of an error. Returns the same error if it contains no secret. */
function redactError(error: unknown, redactor: Redactor): unknown {
  const message = errorMessage(error);
  const redacted = redactor.redact(message);
  const hint = error instanceof FairleadError && error.hint !== undefined ? redactor.redact(error.hint) : undefined;
  if (redacted === message && (!(error instanceof FairleadError) || hint === error.hint)) return error;
  if (!(error instanceof FairleadError)) return new Error(redacted);
  const { code, blame, retry, afterMs } = error;
  return new FairleadError(code, redacted, {
    blame,
    retry,
    ...(afterMs === undefined ? {} : { afterMs }),
    ...(hint === undefined ? {} : { hint }),
  });
}

const placeholderWriteError = (): FairleadError =>
  new FairleadError(
    'secrets/placeholder',
    'Nothing was done: the call contains [redacted: …], a placeholder for a secret that you cannot see. It would overwrite or miss that secret.',
    { blame: 'model', hint: 'Change the parts around it, or ask the user to do it.' },
  );

const maxHeldChars = 8192;
/** Max characters of a private key whose end has not arrived. */
const maxHeldKeyChars = 32_768;

/** Emits complete lines only, because a secret may be split across two chunks. A line that is too long is cut outside of secrets. */
function createLineRedactor(
  emit: (text: string) => void,
  redactor: Redactor,
): { readonly add: (text: string) => void; readonly end: () => void } {
  let buffer = '';
  const release = (length: number): void => {
    if (length > 0) emit(redactor.redact(buffer.slice(0, length)));
    buffer = buffer.slice(length);
  };
  return {
    add(text) {
      buffer += text;
      // A private key of several lines is held until its end arrives.
      const open = buffer.lastIndexOf('-----BEGIN');
      const isOpen = open >= 0 && !buffer.includes('-----END', open);
      const lineEnd = Math.max(buffer.lastIndexOf('\n'), buffer.lastIndexOf('\r')) + 1;
      release(redactor.cutBefore(buffer, isOpen ? Math.min(open, lineEnd) : lineEnd));
      const maxChars = isOpen ? maxHeldKeyChars : maxHeldChars;
      if (buffer.length > maxChars) release(redactor.cutBefore(buffer, buffer.length - maxChars / 2));
    },
    end: () => release(buffer.length),
  };
}
