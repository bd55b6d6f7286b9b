// Files that hold keys by custom: their names are known, and what is in them is no business of a model's unless a person says so.

const secretFileNames: readonly RegExp[] = [
  /^\.env(\..+)?$/,
  /\.(pem|key|p12|pfx|jks|keystore|kdbx|ppk|asc|gpg)$/,
  /^id_(rsa|dsa|ecdsa|ed25519)(_sk)?$/,
  /^\.(npmrc|pypirc|netrc|pgpass|git-credentials|htpasswd|dockercfg)$/,
  /^(credentials|secrets?)(\.(json|ya?ml|toml|ini|env))?$/,
];

/** Examples that people copy from hold no keys. */
const sampleSuffix = /\.(example|sample|template|dist)$/;
const secretFolders: ReadonlySet<string> = new Set(['.ssh', '.aws', '.gnupg', '.kube', '.docker', '.azure']);

/** Whether a file of this path is one that usually holds secrets. Case and Unicode forms do not matter. */
export function isSecretFile(path: string): boolean {
  const parts = path.normalize('NFKC').toLowerCase().split(/[/\\]/);
  const name = (parts.pop() ?? '').replace(/[. ]+$/, '');
  if ([...parts, name].some((each) => secretFolders.has(each))) return !name.endsWith('.pub');
  return secretFileNames.some((each) => each.test(name)) && !sampleSuffix.test(name);
}
