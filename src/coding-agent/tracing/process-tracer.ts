// The one tracer of this process, created with the first agent that is traced.
import { addExitTask } from '../../core/index.ts';
import { createTracer, readTracingOptions, type Tracer } from '../../tracing/index.ts';
import { createStrictRedactor, type Settings } from '../settings/index.ts';
import { packageVersion } from './package-version.ts';

let tracer: Tracer | undefined;

/** Returns the tracer, or creates it from the variables; it is closed at the end of the program. */
export function openProcessTracer(
  env: Readonly<Record<string, string | undefined>>,
  settings: Pick<Settings, 'all' | 'env'>,
  notify: (text: string) => void,
): Tracer | undefined {
  const options = tracer ? undefined : readTracingOptions(env);
  if (!options) return tracer;
  // What leaves the machine is redacted whatever the user chose to see.
  const redactor = options.content ? createStrictRedactor(settings) : undefined;
  const opened = createTracer({
    options,
    version: packageVersion,
    ...(redactor ? { redact: (text) => redactor.redact(text) } : {}),
    onWarning: notify,
  });
  tracer = opened;
  addExitTask(async () => {
    tracer = undefined;
    await opened.close();
  });
  return tracer;
}
