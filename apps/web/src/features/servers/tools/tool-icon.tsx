import type { Toolkit } from '../../../lib/api.ts'

type Icons = NonNullable<Toolkit['tools'][number]['icons']>

/** The icon that the page shows. An `https:` icon is never loaded: it would tell its host who looks at the page. */
export const shownIcon = (icons: Icons = []): string | undefined => {
  const embedded = icons.filter(({ src }) => /^data:image\//i.test(src))
  return (embedded.find(({ theme }) => theme === undefined) ?? embedded[0])?.src
}

/** A picture in `<img>` runs no script, SVG included. */
export function ToolIcon({ icons }: { icons: Icons | undefined }) {
  const src = shownIcon(icons)
  if (src === undefined) return null
  return <img src={src} alt="" aria-hidden className="mt-0.5 size-5 shrink-0 rounded-sm object-contain" />
}
