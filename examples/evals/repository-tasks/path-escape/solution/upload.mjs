import path from 'node:path';

export function resolveUpload(folder, name) {
  const file = path.resolve(folder, name);
  if (!file.startsWith(path.resolve(folder) + path.sep)) throw new Error(`${name} is outside the folder.`);
  return file;
}
