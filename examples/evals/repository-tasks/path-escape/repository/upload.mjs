import path from 'node:path';

export const resolveUpload = (folder, name) => path.join(folder, name);
