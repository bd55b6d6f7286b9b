// The environment of a command: the user's own, without what looks like a secret.

/** Words that end a part of a name: API_KEY is caught by KEY, authToken and GITHUB_TOKEN by TOKEN, PGPASS by PASS; but a program that asks for a password is none. */
const secretNameSuffix =
  /(token|secret|password|passwd|passphrase|(?<!ask)pass|passfile|apikey|credential|connection_?string|conn_?str)s?(_|$)/i;
/** Words that are a whole part of a name: KEY but not KEYBOARD, AUTH as in SSH_AUTH_SOCK, PWD as in MYSQL_PWD, but never PWD alone. */
const secretNamePart = /(^|_)(key|keys|auth|pat|dsn|cookie|private|jwt)(_|$)|_pwd(_|$)/i;
/** Values that are secrets under any name: keys of well-known services, private keys, signed tokens, addresses and settings with a password. */
const secretValuePattern =
  /^(sk-|sk_|rk_|gh[pousr]_|github_pat_|glpat-|xox[abeprs]-|AKIA|ASIA|AIza|hf_|npm_[A-Za-z0-9]{30}|-----BEGIN |eyJ[\w-]+\.eyJ)|:\/\/[^/\s:@]*:[^/\s@]+@|:\/\/[^/\s:@]{16,}@/;
const passwordSettingPattern = /(^|[;&?\s])(password|passwd|pwd)=[^;&\s]/i;

/** Whether a variable must not reach a command. */
export const isSecretVariable = (name: string, value: string): boolean =>
  secretNameSuffix.test(name) ||
  secretNamePart.test(name) ||
  secretValuePattern.test(value) ||
  passwordSettingPattern.test(value);

/** These variables without the secret ones. */
export function publicEnvironment(given: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(given).filter(([name, value]) => !isSecretVariable(name, value ?? '')));
}
