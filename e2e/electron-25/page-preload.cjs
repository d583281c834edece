/** Gives every page of Electron 25 the polyfills, in its own world and before its scripts. */
const { webFrame } = require('electron');

void webFrame.executeJavaScript(POLYFILLS);
