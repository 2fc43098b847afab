// What jsdom does not have.
Object.defineProperty(window, 'matchMedia', {
  value: (query: string) => ({
    matches: query.includes('min-width'),
    media: query,
    addEventListener: () => {},
    removeEventListener: () => {},
  }),
});
Element.prototype.scrollIntoView = () => {};
