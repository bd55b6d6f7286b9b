// Where the page begins: it is put into the document once.
import { render } from 'preact';

render(<p>Fairlead</p>, document.body);
