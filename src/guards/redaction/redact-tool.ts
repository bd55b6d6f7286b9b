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
  const { data, notes } = value;
  return toolOutput({
    ...value,
    text: redactor.redact(value.text),
    ...(data === undefined ? {} : { data: redactJson(toJson(data), redactor) }),
    ...(Array.isArray(notes) ? { notes: redactJson(toJson(notes), redactor) as unknown as typeof notes } : {}),
  });
}

/** Redacts every string in a value. */
export function redactJson(value: Json, redactor: Redactor): Json {
  if (typeof value === 'string') return redactor.redact(value);
  if (Array.isArray(value)) return value.map((each: Json) => redactJson(each, redactor));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, redactJson(each, redactor)]));
}

function someString(value: unknown, matches: (text: string) => boolean): boolean {
  if (typeof value === 'string') return matches(value);
  if (Array.isArray(value)) return value.some((each) => someString(each, matches));
  return isObject(value) && Object.values(value).some((each) => someString(each, matches));
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

/** Emits complete lines only, because a secret may be split across two chunks. */
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
      const completeLength = isOpen ? open : Math.max(buffer.lastIndexOf('\n'), buffer.lastIndexOf('\r')) + 1;
      release(buffer.length - completeLength > maxHeldChars ? buffer.length : completeLength);
    },
    end: () => release(buffer.length),
  };
}
