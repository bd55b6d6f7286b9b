// Tracing of the agents of this process: the tracer is loaded only if the environment or the settings configure a receiver.
import { isTracingConfigured, type Tracer } from '../../tracing/index.ts';
import type { Settings } from '../settings/index.ts';

type TracingSettings = Pick<Settings, 'all' | 'env'>;

/** The settings by the variables that override them. */
const variables: Readonly<Record<string, string>> = {
  'tracing.endpoint': 'OTEL_EXPORTER_OTLP_ENDPOINT',
  'tracing.headers': 'OTEL_EXPORTER_OTLP_HEADERS',
  'tracing.protocol': 'OTEL_EXPORTER_OTLP_PROTOCOL',
  'tracing.content': 'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT',
};

/** The variables of OpenTelemetry: those of the environment, and the settings where it has none. */
export function getTracingVariables({ all, env }: TracingSettings): Readonly<Record<string, string | undefined>> {
  const configured = Object.entries(variables).flatMap(([key, name]) => {
    const value = all.get(key)?.value;
    return value === undefined || env[name] ? [] : [[name, String(value)] as const];
  });
  return { ...env, ...Object.fromEntries(configured) };
}

/** Returns the tracer of this process; undefined if no receiver is configured. All agents share it. */
export async function openTracer(
  settings: TracingSettings,
  notify: (text: string) => void,
): Promise<Tracer | undefined> {
  const env = getTracingVariables(settings);
  if (!isTracingConfigured(env)) return undefined;
  const { openProcessTracer } = await import('./process-tracer.ts');
  return openProcessTracer(env, settings, notify);
}
