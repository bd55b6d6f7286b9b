// The settings of tracing, for users who prefer a file to variables.
import { booleanParser, patternParser, textParser, urlParser } from './parsers.ts';
import type { SettingEntry } from './schema.ts';

/** The settings `tracing.*` by their key; a variable of OpenTelemetry overrides each. */
export const tracingEntries: Readonly<Record<string, SettingEntry>> = {
  'tracing.endpoint': {
    project: 'never',
    description: 'the receiver of traces and metrics (OTLP over HTTP)',
    parse: urlParser,
  },
  'tracing.headers': {
    project: 'never',
    secret: true,
    description: 'headers for that receiver: name=value,name=value',
    parse: textParser('name=value, separated by commas'),
  },
  'tracing.protocol': {
    project: 'never',
    description: 'http/protobuf (default) or http/json',
    parse: patternParser(/^http\/(protobuf|json)$/, 'http/protobuf or http/json'),
  },
  'tracing.content': {
    project: 'never',
    description: 'send texts too, without secrets: true or false',
    parse: booleanParser,
  },
};
