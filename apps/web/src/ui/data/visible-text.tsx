import { segmentsOf } from './hidden-characters.ts'

/** Text of a server, model or user, isolated from its surroundings and with hidden characters visible. */
export function VisibleText({ text }: { text: string }) {
  return (
    <bdi dir="ltr">
      {segmentsOf(text).map(({ text: piece, hidden }, index) =>
        hidden ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: pieces have no name and never move
          <mark key={index} title="Characters that cannot be seen" className="rounded-sm bg-act-soft text-act">
            {piece}
          </mark>
        ) : (
          piece
        ),
      )}
    </bdi>
  )
}
