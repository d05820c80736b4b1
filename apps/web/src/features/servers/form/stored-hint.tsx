/** Hint for arguments and URLs with secret placeholders. */
export function StoredHint() {
  return (
    <>
      <code className="font-mono text-xs">{'${secret:…}'}</code> stands for a stored secret. Leave it to keep the
      secret, or write a new one over it.
    </>
  )
}
