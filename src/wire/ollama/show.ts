// Context windows in the response of Ollama's /api/show.
import { asObject } from '../fields.ts';

/** The context windows of a model. */
export type OllamaWindows = {
  /** The maximum of the architecture. */
  readonly max: number | undefined;
  /** The window that the model file sets (`num_ctx`). */
  readonly configured: number | undefined;
  /** The model runs on another host. */
  readonly isRemote: boolean;
};

/** Parses a response of /api/show. */
export function parseOllamaWindows(shown: unknown): OllamaWindows {
  const { model_info, parameters, remote_host } = asObject(shown);
  const info = asObject(model_info);
  const name = Object.keys(info).find((key) => key.endsWith('.context_length'));
  const set = typeof parameters === 'string' ? /^[ \t]*num_ctx[ \t]+"?(\d+)/m.exec(parameters)?.[1] : undefined;
  return {
    max: positiveInteger(name === undefined ? undefined : info[name]),
    configured: positiveInteger(Number(set)),
    isRemote: typeof remote_host === 'string' && remote_host !== '',
  };
}

/** Returns the value if it is a positive integer. */
export const positiveInteger = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : undefined;
