import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app/app.tsx';

const rootElement = document.querySelector('#root');
if (rootElement === null) throw new Error('the page has no #root');
createRoot(rootElement).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
