import { readFileSync } from 'node:fs';

export const loadConfig = (file) => JSON.parse(readFileSync(file, 'utf8'));
