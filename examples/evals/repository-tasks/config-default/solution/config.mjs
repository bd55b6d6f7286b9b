import { existsSync, readFileSync } from 'node:fs';

export const loadConfig = (file) => (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { port: 8080 });
