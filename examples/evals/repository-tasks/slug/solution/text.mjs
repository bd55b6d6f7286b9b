export const capitalize = (text) => text.charAt(0).toUpperCase() + text.slice(1);

export const slugify = (text) =>
  text
    .normalize('NFD')
    .replaceAll(/\p{Mark}/gu, '')
    .toLowerCase()
    .split(/[^a-z0-9]/)
    .filter((word) => word !== '')
    .join('-');
