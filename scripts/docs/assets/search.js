// Search of the documentation: loads the index when the field is first used and lists the best sections for a query.

/** Returns the sections that contain every word of the query, best first. */
function searchDocs(index, query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const scored = [];
  for (const entry of index) {
    const title = entry.title.toLowerCase();
    const page = entry.page.toLowerCase();
    const text = entry.text.toLowerCase();
    let score = 0;
    for (const word of words) {
      if (title === word) score += 100;
      else if (title.startsWith(word)) score += 40;
      else if (title.includes(word)) score += 20;
      else if (page.includes(word)) score += 8;
      else if (text.includes(word)) score += 3;
      else score = Number.NEGATIVE_INFINITY;
    }
    if (score > 0) scored.push({ entry, score });
  }
  return scored
    .toSorted((a, b) => b.score - a.score)
    .slice(0, 15)
    .map(({ entry }) => entry);
}

if (typeof document !== 'undefined') {
  const root = document.documentElement.dataset.root;
  const field = document.getElementById('search');
  const list = document.getElementById('results');

  const loadIndex = () => {
    if (document.getElementById('search-index')) return;
    const script = document.createElement('script');
    script.id = 'search-index';
    script.src = `${root}search-index.js`;
    script.addEventListener('load', showResults);
    document.head.append(script);
  };

  const showResults = () => {
    const found = globalThis.searchIndex ? searchDocs(globalThis.searchIndex, field.value) : [];
    list.replaceChildren(
      ...found.map((entry) => {
        const link = document.createElement('a');
        link.href = `${root}${entry.href}`;
        const title = document.createElement('strong');
        title.textContent = entry.title;
        const page = document.createElement('small');
        page.textContent = entry.page;
        const text = document.createElement('span');
        text.textContent = entry.text.slice(0, 110);
        link.append(title, page, text);
        const item = document.createElement('li');
        item.append(link);
        return item;
      }),
    );
    if (globalThis.searchIndex && field.value.trim() && found.length === 0) {
      const item = document.createElement('li');
      item.textContent = 'No results.';
      list.append(item);
    }
    list.hidden = list.children.length === 0;
  };

  field.addEventListener('focus', loadIndex);
  field.addEventListener('input', showResults);
  field.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') list.querySelector('a')?.click();
    if (event.key === 'ArrowDown') {
      list.querySelector('a')?.focus();
      event.preventDefault();
    }
  });
  list.addEventListener('keydown', (event) => {
    const links = [...list.querySelectorAll('a')];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    (links[links.indexOf(document.activeElement) + step] ?? field).focus();
    event.preventDefault();
  });
  document.addEventListener('keydown', (event) => {
    if (event.key === '/' && document.activeElement !== field) {
      field.focus();
      event.preventDefault();
    }
    if (event.key === 'Escape') list.hidden = true;
  });
  document.addEventListener('click', (event) => {
    if (!event.target.closest('.search')) list.hidden = true;
  });
}
