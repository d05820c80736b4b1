import { PAGE_COLOURS } from './page-colours.ts'

export const REFERENCE_STYLE = `${PAGE_COLOURS}
* {
  box-sizing: border-box;
}
html {
  scroll-padding-top: 1rem;
}
body {
  display: grid;
  grid-template-columns: 13rem minmax(0, 56rem);
  gap: 0 2.5rem;
  margin: 0;
  font: 15px/1.55 system-ui, sans-serif;
  background: var(--canvas);
  color: var(--ink);
}
nav {
  position: sticky;
  top: 0;
  height: 100vh;
  overflow-y: auto;
  padding: 1.5rem 1rem 2rem 1.5rem;
  border-right: 1px solid var(--line);
}
nav ul {
  margin: 0;
  padding: 0;
  list-style: none;
}
nav a {
  display: block;
  padding: 0.2rem 0;
}
.brand {
  margin: 0 0 1rem;
  font-size: 0.8125rem;
  font-weight: 600;
  color: var(--ink-muted);
}
main {
  padding: 2rem 1rem 6rem;
  overflow-wrap: anywhere;
}
h1 {
  margin: 0 0 0.75rem;
  font-size: 1.5rem;
  letter-spacing: -0.015em;
}
h2 {
  margin: 3rem 0 1rem;
  font-size: 1.125rem;
}
article {
  margin: 0 0 0.75rem;
  padding: 0.9rem 1.1rem;
  background: var(--surface);
  border: 1px solid var(--line);
  border-radius: 0.75rem;
}
article:target {
  border-color: var(--accent);
}
h3 {
  margin: 0;
  font-size: 0.9375rem;
}
h3 a {
  color: inherit;
  text-decoration: none;
}
p {
  margin: 0.4rem 0 0;
}
code,
pre,
.method {
  font: 0.8125rem/1.5 ui-monospace, monospace;
}
.method {
  display: inline-block;
  min-width: 3.6rem;
  font-weight: 700;
  color: var(--accent);
}
.answer,
summary {
  margin: 0.4rem 0 0;
  font-size: 0.875rem;
  color: var(--ink-muted);
}
summary {
  cursor: pointer;
}
.quiet {
  color: var(--ink-muted);
}
pre {
  max-height: 30rem;
  margin: 0.5rem 0 0;
  padding: 0.75rem;
  overflow: auto;
  background: var(--canvas);
  border: 1px solid var(--line);
  border-radius: 0.5rem;
}
.scroll {
  overflow-x: auto;
}
table {
  width: 100%;
  margin-top: 0.6rem;
  border-collapse: collapse;
  font-size: 0.875rem;
}
th,
td {
  padding: 0.25rem 0.75rem 0.25rem 0;
  border-top: 1px solid var(--line);
  text-align: left;
  vertical-align: top;
}
th {
  font-weight: 500;
  color: var(--ink-muted);
}
a {
  color: var(--accent);
}
a:focus-visible,
summary:focus-visible,
pre:focus-visible,
.scroll:focus-visible {
  outline: 2px solid var(--accent);
  outline-offset: 2px;
}
@media (max-width: 50rem) {
  body {
    display: block;
  }
  nav {
    position: static;
    height: auto;
    padding: 1rem;
    border-right: 0;
    border-bottom: 1px solid var(--line);
  }
  nav ul {
    display: flex;
    flex-wrap: wrap;
    gap: 0 1rem;
  }
}
`
