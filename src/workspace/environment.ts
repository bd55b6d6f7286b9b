// The environment of commands: the user's own variables without secrets and without the trace context.

/** Suffixes of a name part: KEY matches API_KEY, TOKEN matches authToken and GITHUB_TOKEN, PASS matches PGPASS; but not programs that ask for a password (ASKPASS). */
const secretNameSuffix =
  /(token|secret|password|passwd|passphrase|(?<!ask)pass|passfile|apikey|credential|connection_?string|conn_?str)s?(_|$)/i;
/** Complete name parts: KEY but not KEYBOARD, AUTH as in SSH_AUTH_SOCK, PWD as in MYSQL_PWD, but never PWD alone. */
const secretNamePart = /(^|_)(key|keys|auth|pat|dsn|cookie|private|jwt)(_|$)|_pwd(_|$)/i;
/** The headers for a receiver of traces, which contain its key, and the context of the caller, which a command could use to write into its trace. */
const tracingName = /^(?:OTEL_EXPORTER_OTLP_(?:[A-Z]+_)?HEADERS|TRACEPARENT|TRACESTATE)$/i;
/** Values that are secrets under any name: keys of known services, private keys, signed tokens, URLs and settings with a password. */
const secretValuePattern =
  /^(sk-|sk_|rk_|gh[pousr]_|github_pat_|glpat-|xox[abeprs]-|AKIA|ASIA|AIza|hf_|npm_[A-Za-z0-9]{30}|-----BEGIN |eyJ[\w-]+\.eyJ)|:\/\/[^/\s:@]*:[^/\s@]+@|:\/\/[^/\s:@]{16,}@/;
const passwordSettingPattern = /(^|[;&?\s])(password|passwd|pwd)=[^;&\s]/i;

/** Returns true if a variable must not reach a command. */
export const isSecretVariable = (name: string, value: string): boolean =>
  secretNameSuffix.test(name) ||
  tracingName.test(name) ||
  secretNamePart.test(name) ||
  secretValuePattern.test(value) ||
  passwordSettingPattern.test(value);

/** Returns these variables without the secret ones. */
export function publicEnvironment(given: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(given).filter(([name, value]) => !isSecretVariable(name, value ?? '')));
}
