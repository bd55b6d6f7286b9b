// Decides whether the environment asks for tracing, in a file of its own: every start of an agent reads it.

const endpoints = ['ENDPOINT', 'TRACES_ENDPOINT', 'METRICS_ENDPOINT'];

/** Returns whether the variables ask for tracing at all, without reading them further. */
export const isTracingConfigured = (env: Readonly<Record<string, string | undefined>>): boolean =>
  env['OTEL_SDK_DISABLED']?.toLowerCase() !== 'true' &&
  (endpoints.some((name) => Boolean(env[`OTEL_EXPORTER_OTLP_${name}`])) ||
    env['OTEL_TRACES_EXPORTER'] === 'otlp' ||
    env['OTEL_METRICS_EXPORTER'] === 'otlp');
