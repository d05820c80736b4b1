-- What waits for an answer or goes on later is sealed, too: a key that is taken out must not take it away.
SELECT mcp.allow_caller('key-rotation', tab, 'any') FROM unnest(ARRAY['approvals', 'runs']) AS tab;
