// The environment of a command: the user's own, without what looks like a secret.

/** Words that end a part of a name: API_KEY is caught by KEY, authToken and GITHUB_TOKEN by TOKEN. */
const secretEndings = /(token|secret|password|passwd|passphrase|apikey|credential)s?(_|$)/i;
/** Words that are a whole part of a name: KEY but not KEYBOARD, AUTH as in SSH_AUTH_SOCK, but never PWD. */
const secretWords = /(^|_)(key|keys|pass|auth|pat|dsn|cookie|private)(_|$)/i;
/** Values that are secrets under any name: keys of well-known services, private keys, addresses with a password. */
const secretValues =
  /^(sk-|sk_|rk_|gh[pousr]_|github_pat_|glpat-|xox[abeprs]-|AKIA|ASIA|AIza|hf_|npm_[A-Za-z0-9]{30}|-----BEGIN )|:\/\/[^/\s:@]*:[^/\s@]+@/;

/** Whether a variable must not reach a command. */
export const isSecret = (name: string, value: string): boolean =>
  secretEndings.test(name) || secretWords.test(name) || secretValues.test(value);

/** These variables without the secret ones. */
export function publicEnvironment(given: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(given).filter(([name, value]) => !isSecret(name, value ?? '')));
}
